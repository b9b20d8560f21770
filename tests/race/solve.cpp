// Solves a system with the text of `kernels/cholesky.cu`: TYPE N BLOCKS CHAINS CHANCE [barrier|line NUMBER]; with
// `arrival` instead, reads behind an arrival, which is a race.

#include "host.hpp"

#include "cholesky.inc"

template <typename T> struct Run {
    int n, blocks, chains;
    std::vector<T> a, b;
    std::size_t shared = 3 * AREA * sizeof(T);

    Run(int n, int blocks, int chains) : n(n), blocks(blocks), chains(chains), a((std::size_t)n * n), b(n) {
        std::uint64_t state = 1;
        const auto random = [&] {
            state = host::next(state);
            return (double)(state >> 33) / (1u << 30) - 1;
        };
        for (int c = 0; c < n; ++c) {
            for (int r = 0; r < c; ++r) a[(std::size_t)c * n + r] = a[(std::size_t)r * n + c] = (T)random();
            a[(std::size_t)c * n + c] = (T)(n + random());
            b[c] = (T)random();
        }
    }

    std::size_t workspace() const {
        const int tiles = (n + TILE - 1) / TILE;
        return tile_count(tiles) * AREA + 3 * (std::size_t)tiles * TILE;
    }

    void solve(T* x, T* work, T* other, int* info, int* other_info) {
        host::launch(blocks, shared,
                     [&] { cholesky(a.data(), b.data(), x, work, other, info, other_info, n, chains); });
    }
    void refine(T* x, T* work) {
        std::vector<T> r(n);
        host::launch(2, 0, [&] {
            for (int place = blockIdx.x; place < (n + 7) / 8; place += gridDim.x) {
                host::move_to(place);
                residual(a.data(), b.data(), x, r.data(), n);
            }
        });
        host::launch((n + TILE - 1) / TILE, shared, [&] { correct(work, r.data(), x, n); });
    }

    // The largest componentwise backward error, in units of roundoff.
    double backward_error(const std::vector<T>& x) const {
        double largest = 0;
        for (int r = 0; r < n; ++r) {
            double rest = b[r], size = std::abs((double)b[r]);
            for (int c = 0; c < n; ++c) {
                const double term = (double)a[(std::size_t)r * n + c] * x[c];
                rest -= term;
                size += std::abs(term);
            }
            largest = std::max(largest, std::isfinite(rest) ? std::abs(rest) / size : INFINITY);
        }
        return largest / (std::numeric_limits<T>::epsilon() / 2);
    }

    // Two launches, each with the workspace that the other clears, and a refinement between them. Tells the errors of
    // both solutions, and a third number that is zero where the two launches agree to the bit.
    void all() {
        std::vector<T> work[2], x[2];
        int info[2] = {};
        for (int w : {0, 1}) {
            work[w].resize(workspace());
            x[w].resize(n);
        }
        solve(x[0].data(), work[0].data(), work[1].data(), &info[0], &info[1]);
        const std::vector<T> first = x[0];
        refine(x[0].data(), work[0].data());
        solve(x[1].data(), work[1].data(), work[0].data(), &info[1], &info[0]);
        std::printf("%g %g %d\n", backward_error(first), backward_error(x[0]), first != x[1] || info[0] || info[1]);
    }
};

void arrival() {
    host::launch(1, 64, [] {
        unsigned char* shared = host::shared();
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        if (warp == 0) {
            shared[lane] = 1;
            host::wait(1, 64);
        } else if (warp == 1) {
            host::arrive(1, 64);
            host::pause_idle();
            shared[32 + lane] = shared[lane];
        }
    });
}

int main(int count, char** words) {
    alarm(60);
    const std::string_view type = words[1];
    if (type == "arrival") arrival();
    if (count < 6) return 0;
    const int n = std::atoi(words[2]), blocks = std::atoi(words[3]), chains = std::atoi(words[4]);
    host::chance = std::atoi(words[5]);
    if (count == 8) {
        (std::string_view(words[6]) == "barrier" ? host::broken_barrier : host::broken_line) = std::atoi(words[7]);
    }
    if (type == "float32") Run<float>(n, blocks, chains).all();
    if (type == "float64") Run<double>(n, blocks, chains).all();
}
