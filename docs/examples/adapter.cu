// A worker for gpubench in C++ with CUDA: the op `elementwise`. docs/external.md explains how to build, run and check it.
#include <cuda_runtime.h>

#include <fstream>
#include <memory>
#include <sstream>

#include "worker.h"

// ---- The device.
void check(cudaError_t code, const char* call) {
    if (code == cudaSuccess) return;
    std::string reason = std::string(call) + ": " + cudaGetErrorString(code);
    if (code == cudaErrorMemoryAllocation) { cudaGetLastError(); throw OutOfMemory(reason); }
    throw std::runtime_error(reason);
}
#define CHECK(call) check(call, #call)

template <class T>
__global__ void elementwise(const T* a, const T* b, T* y, size_t count) {
    for (size_t k = blockIdx.x * size_t(blockDim.x) + threadIdx.x; k < count; k += size_t(gridDim.x) * blockDim.x)
        y[k] = a[k] * b[k] + sin(a[k]) + cos(b[k]);
}

// Keeps the stream busy until the host has queued everything behind it, for at most a second.
__global__ void spin(const volatile int* go) {
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (*go == 0 && now - start < 1000000000ull);
}

// Memory of the device, freed with its owner, also if an allocation after it fails.
struct Free { void operator()(char* memory) const { cudaFree(memory); } };
using Buffer = std::unique_ptr<char, Free>;

Buffer allocated(size_t bytes) {
    void* memory = nullptr;
    CHECK(cudaMalloc(&memory, bytes));
    return Buffer(static_cast<char*>(memory));
}

struct Device {
    cudaEvent_t begin, end;
    int* go;  // Host memory that the device can read.
    char* flushed;
    size_t flushed_bytes;
};
Device device;

// ---- A job: operands and answer on the device, of float or double.
struct Sample { double host_s, device_s; };

struct Job {
    size_t n, width;  // Width: bytes of an element.
    bool is_cold;
    double inputs_s, prepare_s;
    Buffer buffers[3];  // a, b and the answer.

    explicit Job(const Request& request) {
        n = whole(request, "cell.case.n"), width = text(request, "cell.case.dtype") == "f32" ? 4 : 8;
        is_cold = text(request, "cell.cache") == "cold";
        double start = now_s();
        std::vector<char> operands[2];
        for (uint64_t k = 0; k < 2; ++k) operands[k] = uniform(whole(request, "cell.case.seed"), k, count(), width);
        inputs_s = now_s() - start;
        for (Buffer& buffer : buffers) buffer = allocated(bytes());
        for (int k = 0; k < 2; ++k) CHECK(cudaMemcpy(buffers[k].get(), operands[k].data(), bytes(), cudaMemcpyHostToDevice));
        prepare_s = now_s() - start - inputs_s;
    }
    size_t count() const { return n * n; }
    size_t bytes() const { return count() * width; }

    std::vector<char> download(int buffer) const {
        std::vector<char> values(bytes());
        CHECK(cudaMemcpy(values.data(), buffers[buffer].get(), bytes(), cudaMemcpyDeviceToHost));
        return values;
    }
    void launch() {
        int blocks = int(std::min<size_t>((count() + 255) / 256, 65535));
        auto run = [&](auto zero) {
            using T = decltype(zero);
            auto at = [&](int k) { return reinterpret_cast<T*>(buffers[k].get()); };
            elementwise<T><<<blocks, 256>>>(at(0), at(1), at(2), count());
        };
        width == 4 ? run(0.0f) : run(0.0);
        CHECK(cudaGetLastError());
    }
    void flush() {
        if (is_cold) CHECK(cudaMemsetAsync(device.flushed, 0, device.flushed_bytes));
    }
    double execute() {
        flush();
        CHECK(cudaDeviceSynchronize());
        double start = now_s();
        launch();
        CHECK(cudaDeviceSynchronize());
        return now_s() - start;
    }
    // One execution for each clock: events behind a spinning kernel see no gap between launches.
    Sample sample() {
        double host_s = execute();
        *device.go = 0;
        flush();
        spin<<<1, 1>>>(device.go);
        CHECK(cudaEventRecord(device.begin));
        launch();
        CHECK(cudaEventRecord(device.end));
        *static_cast<volatile int*>(device.go) = 1;
        CHECK(cudaDeviceSynchronize());
        float milliseconds;
        CHECK(cudaEventElapsedTime(&milliseconds, device.begin, device.end));
        return {host_s, 1e-3 * milliseconds};
    }
};
std::map<uint64_t, std::unique_ptr<Job>> jobs;

Job& job_of(const Request& request) {
    auto found = jobs.find(whole(request, "job"));
    if (found == jobs.end()) throw std::runtime_error("there is no such job");
    return *found->second;
}

// ---- The replies.
std::string answered(const Job& job, const std::string& path, const std::string& more) {
    std::vector<char> values = job.download(2);
    std::ofstream(path, std::ios::binary).write(values.data(), std::streamsize(values.size()));
    std::ostringstream reply;
    reply << R"({"type":"answered","inputs":")" << fingerprint({job.download(0), job.download(1)}, job.n, job.width) << R"(","arrays":[{"dtype":)"
          << (job.width == 4 ? R"("f32")" : R"("f64")") << R"(,"shape":[)" << job.n << ',' << job.n << "]}]" << more << '}';
    return reply.str();
}

std::string started(int ordinal) {
    cudaDeviceProp about;
    int driver = 0;
    CHECK(cudaSetDevice(ordinal));
    CHECK(cudaGetDeviceProperties(&about, ordinal));
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaEventCreate(&device.begin));
    CHECK(cudaEventCreate(&device.end));
    CHECK(cudaMallocHost(reinterpret_cast<void**>(&device.go), sizeof(int)));
    device.flushed_bytes = 2 * std::max<size_t>(about.l2CacheSize, 1 << 20);
    device.flushed = allocated(device.flushed_bytes).release();  // Until the process ends.
    return R"({"type":"ready","description":{"name":)" + quoted(about.name) + R"(,"device":)" + std::to_string(ordinal) +
           R"(,"cuda_version":)" + std::to_string(driver) + "}}";
}

std::string hello(const Request& request) {
    try {
        return started(has(request, "options.device") ? int(whole(request, "options.device")) : 0);
    } catch (const std::runtime_error& error) {
        return R"({"type":"unavailable","reason":)" + quoted(error.what()) + R"(,"fix":"install a CUDA driver"})";
    }
}

std::string prepare(const Request& request) {
    jobs.erase(whole(request, "job"));
    auto job = std::make_unique<Job>(request);
    double first_s = job->execute(), start = now_s();
    job->download(2);
    std::ostringstream phases;
    phases << R"(,"phases":{"inputs_s":)" << job->inputs_s << R"(,"prepare_s":)" << job->prepare_s << R"(,"first_s":)" << first_s
           << R"(,"download_s":)" << now_s() - start << R"(,"check_s":0})";
    std::string reply = answered(*job, text(request, "answer"), phases.str());
    jobs[whole(request, "job")] = std::move(job);
    return reply;
}

std::string measure(const Request& request) {
    Job& job = job_of(request);
    std::vector<double> times;
    double start = now_s();
    while (has(request, "batch.warm_up.max_s") && now_s() - start < number(request, "batch.warm_up.max_s") &&
           (times.size() < whole(request, "batch.warm_up.executions") ||
            now_s() - start < number(request, "batch.warm_up.min_s") || !is_steady(times)))
        times.push_back(job.sample().device_s);
    double began = now_s();
    std::ostringstream samples;
    samples.precision(9);
    uint64_t count = 0;
    do {
        Sample sample = job.sample();
        samples << (count++ ? "," : "") << R"({"host_s":)" << sample.host_s << R"(,"device_s":)" << sample.device_s << R"(,"blocked":true})";
    } while (count < whole(request, "batch.samples") && now_s() - began < number(request, "batch.max_s"));
    std::ostringstream reply;
    reply << R"({"type":"measured","clock":"device-events","result":{"samples":[)" << samples.str() << R"(],"warmups":)" << times.size()
          << R"(,"warmup_s":)" << began - start << R"(,"spent_s":)" << now_s() - began << R"(,"steady":)" << (is_steady(times) ? "true" : "false")
          << R"(,"setup_while_sampling":{"allocations":0,"plans":0,"compilations":0}}})";
    return reply.str();
}

std::string verify(const Request& request) {
    Job& job = job_of(request);
    if (has(request, "alter.value")) {
        char* element = job.buffers[whole(request, "alter.operand")].get() + whole(request, "alter.element") * job.width;
        double value = number(request, "alter.value"), before;
        float narrow = float(value);
        CHECK(cudaMemcpy(&before, element, job.width, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(element, job.width == 4 ? static_cast<void*>(&narrow) : &value, job.width, cudaMemcpyHostToDevice));
        job.execute();
        CHECK(cudaMemcpy(element, &before, job.width, cudaMemcpyHostToDevice));
    } else if (text(request, "execute") == "true") {
        CHECK(cudaMemset(job.buffers[2].get(), 0xff, job.bytes()));  // Each element becomes NaN.
        job.execute();
    }
    return answered(job, text(request, "answer"), "");
}

std::string reply_to(const Request& request) {
    const std::string& type = text(request, "type");
    if (type == "describe")
        return R"({"type":"described","name":"CUDA C++","summary":"the example in C++","variants":[{"op":"elementwise","name":"loop",)"
               R"("summary":"one loop over the elements","side":"gpu","accuracy":"ieee","default":true,"dtypes":["f32","f64"]}]})";
    if (type == "hello") return hello(request);
    if (type == "prepare") return prepare(request);
    if (type == "measure") return measure(request);
    if (type == "verify") return verify(request);
    if (type == "release") return jobs.erase(whole(request, "job")), R"({"type":"released"})";
    if (type == "rest") return R"({"type":"rested"})";
    if (type == "exit") _exit(0);  // std::exit would wait for the thread that reads standard input.
    throw std::runtime_error("there is no request " + type);
}

int main() {
    serve(reply_to, [] { return !jobs.empty() && cudaDeviceSynchronize() != cudaSuccess; });
}
