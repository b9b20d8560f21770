// y[i] = sin(a[i]) for one i, by one thread: the launch of a host loop that processes one element at a time.
extern "C" __global__ void sine_at_f32(const float* a, float* y, unsigned long long i) { y[i] = sinf(a[i]); }
extern "C" __global__ void sine_at_f64(const double* a, double* y, unsigned long long i) { y[i] = sin(a[i]); }
