// Prints the largest errors of kernels/elementwise/sine_cosine.cuh in units in the last place: of the sine and of the cosine in float32,
// then in float64. The host's fma rounds as the device's does.

#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

#define __device__
#define __forceinline__ inline

using u32 = unsigned int;

static u32 __float_as_uint(float value) {
    u32 bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}
static int __double2loint(double value) {
    long long bits;
    std::memcpy(&bits, &value, sizeof bits);
    return (int)bits;
}
using std::fma;

#include "sine_cosine.inc"

struct Largest {
    double sine = 0, cosine = 0;

    template <typename T, typename Exact> static double error(T found, Exact exact) {
        constexpr int DIGITS = sizeof(T) == 4 ? 24 : 53;
        return std::fabs((double)((found - exact) / std::ldexp((Exact)1, std::ilogb(exact) + 1 - DIGITS)));
    }
    // `Exact` has more digits than T.
    template <typename Exact, typename T> void add(T x) {
        const Reduced<T> reduced_x = reduced(x);
        sine = std::fmax(sine, error<T, Exact>(sine_after(reduced_x, 0), std::sin((Exact)x)));
        cosine = std::fmax(cosine, error<T, Exact>(sine_after(reduced_x, 1), std::cos((Exact)x)));
    }
    void print() const { std::printf("%.3f %.3f\n", sine, cosine); }
};

int main() {
    // Every 61st number of those that are neither zero nor subnormal.
    Largest single;
    for (u32 bits = 0x00800000; bits < __float_as_uint(LIMIT<float>); bits += 61) {
        float x;
        std::memcpy(&x, &bits, sizeof x);
        single.add<double>(bits % 2 ? x : -x);
    }
    single.print();

    Largest both;
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> unit(0, 1);
    for (int k = 0; k < 500000; ++k) {
        both.add<long double>(LIMIT<double> * (2 * unit(random) - 1));
        both.add<long double>(std::exp2(31 - 80 * unit(random)));
        // The numbers next to a multiple of pi / 2, of which a reduction leaves fewest digits.
        const double near = (double)(std::floor(std::exp2(30.3 * unit(random))) * 1.57079632679489661923132169163975144L);
        for (double x : {std::nextafter(near, 0.0), near, std::nextafter(near, 1e10)})
            if (x < LIMIT<double>) both.add<long double>(x);
    }
    both.print();
}
