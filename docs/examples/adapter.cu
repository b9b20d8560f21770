// A worker for gpubench in C++ with CUDA: the op `elementwise`. docs/external.md explains how to build, run and check it.
#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

// ---- A reader of JSON that is enough for requests. It finds each string, number and word by its path, such as cell.case.n.
using Request = std::map<std::string, std::string>;

std::runtime_error no_json(const std::string& line) { return std::runtime_error("this line is not JSON: " + line); }

char next(const std::string& line, size_t& at) {
    at = line.find_first_not_of(" \t\r", at);
    if (at >= line.size()) throw no_json(line);
    return line[at];
}

std::string read_string(const std::string& line, size_t& at) {
    std::string text;
    for (++at; at < line.size() && line[at] != '"'; ++at) text += line[at] == '\\' ? line[++at] : line[at];
    ++at;
    return text;
}

void read(const std::string& line, size_t& at, const std::string& path, Request& found) {
    const char open = next(line, at);
    if (open == '{' || open == '[') {
        const std::string prefix = path.empty() ? "" : path + ".";
        int element = 0;
        for (++at; next(line, at) != (open == '{' ? '}' : ']');) {
            if (line[at] == ',') ++at, next(line, at);
            const std::string name = open == '{' ? read_string(line, at) : std::to_string(element++);
            if (open == '{' && next(line, at) == ':') ++at;
            read(line, at, prefix + name, found);
        }
        ++at;
    } else if (open == '"') {
        found[path] = read_string(line, at);
    } else {
        const size_t end = std::min(line.find_first_of(",]} \t\r", at), line.size());
        if (end == at) throw no_json(line);
        found[path] = line.substr(at, end - at);
        at = end;
    }
}

bool has(const Request& request, const std::string& path) { return request.count(path) && request.at(path) != "null"; }

const std::string& text(const Request& request, const std::string& path) {
    if (!has(request, path)) throw std::runtime_error("the request has no " + path);
    return request.at(path);
}
double number(const Request& request, const std::string& path) { return std::stod(text(request, path)); }
uint64_t whole(const Request& request, const std::string& path) { return std::stoull(text(request, path)); }

// ---- The device.
struct OutOfMemory : std::runtime_error { using runtime_error::runtime_error; };

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

struct Device {
    cudaEvent_t begin, end;
    int* go;  // Host memory that the device can read.
    void* flushed;
    size_t flushed_bytes;
};
Device device;

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// ---- A job: operands and answer on the device, of float or double.
const uint64_t GOLDEN = 0x9E3779B97F4A7C15ull;

uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

struct Sample { double host_s, device_s; };

struct Job {
    size_t n, width;  // Width: bytes of an element.
    bool is_cold;
    double inputs_s, prepare_s;
    char* buffers[3] = {};  // a, b and the answer.

    explicit Job(const Request& request) {
        n = whole(request, "cell.case.n"), width = text(request, "cell.case.dtype") == "f32" ? 4 : 8;
        is_cold = text(request, "cell.cache") == "cold";
        double start = now_s();
        std::vector<char> operands[2];
        for (uint64_t k = 0; k < 2; ++k) operands[k] = uniform(whole(request, "cell.case.seed"), k);
        inputs_s = now_s() - start;
        for (char*& buffer : buffers) CHECK(cudaMalloc(&buffer, bytes()));
        for (int k = 0; k < 2; ++k) CHECK(cudaMemcpy(buffers[k], operands[k].data(), bytes(), cudaMemcpyHostToDevice));
        prepare_s = now_s() - start - inputs_s;
    }
    ~Job() { for (char* buffer : buffers) cudaFree(buffer); }
    size_t count() const { return n * n; }
    size_t bytes() const { return count() * width; }

    std::vector<char> uniform(uint64_t seed, uint64_t operand) const {
        std::vector<char> values(bytes());
        uint64_t key = mix(seed + GOLDEN * (operand + 1));
        for (uint64_t k = 0; k < count(); ++k) {
            uint64_t bits = mix(key + GOLDEN * (k + 1));
            if (width == 4) reinterpret_cast<float*>(values.data())[k] = std::ldexp(float(bits >> 40), -24);
            else reinterpret_cast<double*>(values.data())[k] = std::ldexp(double(bits >> 11), -53);
        }
        return values;
    }
    std::vector<char> download(int buffer) const {
        std::vector<char> values(bytes());
        CHECK(cudaMemcpy(values.data(), buffers[buffer], bytes(), cudaMemcpyDeviceToHost));
        return values;
    }
    std::string fingerprint() const {
        uint64_t state = 0;
        for (int k = 0; k < 2; ++k) {
            std::vector<char> values = download(k);
            uint64_t elements = 0;
            for (uint64_t p = 0; p < count(); ++p) {
                uint64_t word = width == 4 ? reinterpret_cast<uint32_t*>(values.data())[p]
                                           : reinterpret_cast<uint64_t*>(values.data())[p];
                elements += (word + 1) * (2 * p + 1);
            }
            for (uint64_t part : {uint64_t(n), uint64_t(n), uint64_t(0), elements})
                state = (state << 13 | state >> 51) * GOLDEN + part;
        }
        char digits[17];
        std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(state));
        return digits;
    }
    void launch() {
        int blocks = int(std::min<size_t>((count() + 255) / 256, 65535));
        auto run = [&](auto zero) {
            using T = decltype(zero);
            auto at = [&](int k) { return reinterpret_cast<T*>(buffers[k]); };
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
std::string quoted(const std::string& line) {
    std::string safe;
    for (char c : line) safe += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c < ' ' && c >= 0 ? ' ' : c);
    return '"' + safe + '"';
}

std::string answered(const Job& job, const std::string& path, const std::string& more) {
    std::vector<char> values = job.download(2);
    std::ofstream(path, std::ios::binary).write(values.data(), std::streamsize(values.size()));
    std::ostringstream reply;
    reply << R"({"type":"answered","inputs":")" << job.fingerprint() << R"(","arrays":[{"dtype":)"
          << (job.width == 4 ? R"("f32")" : R"("f64")") << R"(,"shape":[)" << job.n << ',' << job.n << "]}]" << more << '}';
    return reply.str();
}

std::string hello(const Request& request) {
    int ordinal = has(request, "options.device") ? int(whole(request, "options.device")) : 0;
    cudaDeviceProp about;
    int driver = 0;
    cudaError_t code = cudaSetDevice(ordinal);
    if (code != cudaSuccess || cudaGetDeviceProperties(&about, ordinal) != cudaSuccess)
        return R"({"type":"unavailable","reason":)" + quoted(cudaGetErrorString(code)) + R"(,"fix":"install a CUDA driver"})";
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaEventCreate(&device.begin));
    CHECK(cudaEventCreate(&device.end));
    CHECK(cudaMallocHost(&device.go, sizeof(int)));
    device.flushed_bytes = 2 * std::max<size_t>(about.l2CacheSize, 1 << 20);
    CHECK(cudaMalloc(&device.flushed, device.flushed_bytes));
    return R"({"type":"ready","description":{"name":)" + quoted(about.name) + R"(,"device":)" + std::to_string(ordinal) +
           R"(,"cuda_version":)" + std::to_string(driver) + "}}";
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

bool is_steady(const std::vector<double>& times) {
    size_t half = times.size() / 2;
    auto median = [&](size_t from, size_t to) {
        std::vector<double> part(times.begin() + from, times.begin() + to);
        std::nth_element(part.begin(), part.begin() + part.size() / 2, part.end());
        return part[part.size() / 2];
    };
    return half < 3 || median(half, times.size()) > 0.98 * median(0, half);
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
        char* element = job.buffers[whole(request, "alter.operand")] + whole(request, "alter.element") * job.width;
        double value = number(request, "alter.value"), before;
        float narrow = float(value);
        CHECK(cudaMemcpy(&before, element, job.width, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(element, job.width == 4 ? static_cast<void*>(&narrow) : &value, job.width, cudaMemcpyHostToDevice));
        job.execute();
        CHECK(cudaMemcpy(element, &before, job.width, cudaMemcpyHostToDevice));
    } else if (text(request, "execute") == "true") {
        CHECK(cudaMemset(job.buffers[2], 0xff, job.bytes()));  // Each element becomes NaN.
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
    FILE* replies = fdopen(dup(1), "w");
    dup2(2, 1);  // Whatever is printed goes to standard error.
    std::mutex lock;
    std::condition_variable arrived;
    std::deque<std::string> lines;
    std::thread([&] {
        for (std::string line; std::getline(std::cin, line); arrived.notify_one()) {
            std::lock_guard<std::mutex> guard(lock);
            lines.push_back(line);
        }
        _exit(0);  // The parent is gone.
    }).detach();
    for (;;) {
        std::unique_lock<std::mutex> guard(lock);
        arrived.wait(guard, [&] { return !lines.empty(); });
        std::string line = lines.front(), reply;
        lines.pop_front();
        guard.unlock();
        try {
            size_t at = 0;
            Request request;
            read(line, at, "", request);
            reply = reply_to(request);
        } catch (const OutOfMemory& error) {
            reply = R"({"type":"skipped","crowded":true,"fix":"choose a smaller size","reason":)" + quoted(error.what()) + '}';
        } catch (const std::exception& error) {
            bool is_lost = !jobs.empty() && cudaDeviceSynchronize() != cudaSuccess;
            reply = R"({"type":"failed","reason":)" + quoted(error.what()) + R"(,"device_lost":)" + (is_lost ? "true}" : "false}");
        }
        std::fprintf(replies, "%s\n", reply.c_str());
        std::fflush(replies);
    }
}
