// The part of adapter.cu that needs no CUDA: requests and replies, operands and their fingerprint.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <iostream>
#include <map>
#include <mutex>
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

std::string quoted(const std::string& line) {
    std::string safe;
    for (char c : line) safe += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c < ' ' && c >= 0 ? ' ' : c);
    return '"' + safe + '"';
}

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct OutOfMemory : std::runtime_error { using runtime_error::runtime_error; };

// ---- Operands of n by n elements, of 4 bytes (float) or 8 (double).
const uint64_t GOLDEN = 0x9E3779B97F4A7C15ull;

uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

std::vector<char> uniform(uint64_t seed, uint64_t operand, size_t count, size_t width) {
    std::vector<char> values(count * width);
    const uint64_t key = mix(seed + GOLDEN * (operand + 1));
    for (uint64_t k = 0; k < count; ++k) {
        const uint64_t bits = mix(key + GOLDEN * (k + 1));
        if (width == 4) reinterpret_cast<float*>(values.data())[k] = std::ldexp(float(bits >> 40), -24);
        else reinterpret_cast<double*>(values.data())[k] = std::ldexp(double(bits >> 11), -53);
    }
    return values;
}

std::string fingerprint(const std::vector<std::vector<char>>& operands, uint64_t n, size_t width) {
    uint64_t state = 0;
    for (const std::vector<char>& values : operands) {
        uint64_t elements = 0;
        for (uint64_t p = 0; p < n * n; ++p) {
            const uint64_t word = width == 4 ? reinterpret_cast<const uint32_t*>(values.data())[p]
                                             : reinterpret_cast<const uint64_t*>(values.data())[p];
            elements += (word + 1) * (2 * p + 1);
        }
        for (uint64_t part : {n, n, uint64_t(0), elements}) state = (state << 13 | state >> 51) * GOLDEN + part;
    }
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(state));
    return digits;
}

// ---- The end of a warm-up, and the conversation.
bool is_steady(const std::vector<double>& times) {
    size_t half = times.size() / 2;
    auto median = [&](size_t from, size_t to) {
        std::vector<double> part(times.begin() + from, times.begin() + to);
        std::nth_element(part.begin(), part.begin() + part.size() / 2, part.end());
        return part[part.size() / 2];
    };
    return half < 3 || median(half, times.size()) > 0.98 * median(0, half);
}

// Answers requests until the parent ends the process. `is_lost` says after a failure whether the device is unusable.
template <class Reply, class IsLost>
void serve(Reply reply_to, IsLost is_lost) {
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
            reply = R"({"type":"failed","reason":)" + quoted(error.what()) + R"(,"device_lost":)" + (is_lost() ? "true}" : "false}");
        }
        std::fprintf(replies, "%s\n", reply.c_str());
        std::fflush(replies);
    }
}
