// Checks every variant, then times them beside CUB. One run, one table.
//   lab [check|bench|all] [log2 of the largest n, 28] [type, 4+4 for u32 keys with 4-byte values; all]
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include "lab.cuh"
using u128 = unsigned __int128;
template <> void prepare_fixed<u8>(int); template <> void prepare_fixed<u16>(int); template <> void prepare_fixed<u32>(int); template <> void prepare_fixed<u64>(int); template <> void prepare_fixed<u128>(int);

u32 enqueue_any(const Variant& v, const Buffers& b, u64 n, const Options& o, cudaStream_t s, Timing* t) {
    switch (v.key_bytes) {
        case 1: return enqueue<u8>(v, b, n, o, s, t);
        case 2: return enqueue<u16>(v, b, n, o, s, t);
        case 4: return enqueue<u32>(v, b, n, o, s, t);
        case 8: return enqueue<u64>(v, b, n, o, s, t);
        default: return enqueue<u128>(v, b, n, o, s, t);
    }
}
template <> Fixed<u8>& fixed<u8>(); template <> Fixed<u16>& fixed<u16>(); template <> Fixed<u32>& fixed<u32>(); template <> Fixed<u64>& fixed<u64>(); template <> Fixed<u128>& fixed<u128>();

static const char* DISTS[] = {"uniform", "equal", "sorted", "reverse", "zipf", "and3", "two", "small", "few16", "and5", "timestamps", "nearly"};
enum { UNIFORM, EQUAL, SORTED, REVERSE, ZIPF, AND3, TWO, SMALL, FEW16, AND5, STAMPS, NEARLY, N_DISTS };

__host__ __device__ inline u64 mix(u64 x) {
    x += 0x9e3779b97f4a7c15ull; x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull; x = (x ^ (x >> 27)) * 0x94d049bb133111ebull; return x ^ (x >> 31);
}
template <class K>
__global__ void generate(K* keys, u64 n, int dist, u64 seed) {
    u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    if (i >= n) return;
    const u32 bits = sizeof(K) >= 8 ? 64 : 8 * sizeof(K);
    u64 r = mix(seed * 0x1234567ull + 3 * i), x = r;
    u64 ramp = (u64)((double)i / (double)n * (bits == 64 ? 18446744073709549568.0 : (double)(1ull << (bits & 63))));
    switch (dist) {
        case EQUAL: x = 0x0123456789abcdefull; break;
        case SORTED: x = ramp; break;
        case REVERSE: x = ~ramp; break;
        case ZIPF: x = (u64)exp2(24.0 * ((r >> 11) * (1.0 / 9007199254740992.0))); break;
        case AND3: x = r & mix(r) & mix(r + 99); break;
        case AND5: x = r & mix(r) & mix(r + 99) & mix(r + 7) & mix(r + 5); break;
        case TWO: x = r & 1 ? ~0ull : 0; break;
        case SMALL: x = r & ((1ull << (bits / 2)) - 1); break;
        case FEW16: x = mix(r % 16); break;
        case STAMPS: x = 1700000000000000000ull + (r & ((1ull << 40) - 1)); break;
        case NEARLY: x = r % 1000 ? ramp : mix(r); break;
        default: break;
    }
    K k = (K)x;
    if (sizeof(K) == 16) k = (K)(((unsigned __int128)(dist == UNIFORM ? mix(r + 1) : x) << 64) | x);
    keys[i] = k;
}
static void gen(void* keys, u32 kb, u64 n, int dist, u64 seed) {
    if (!n) return;
    u32 g = (u32)((n + 255) / 256);
    if (kb == 1) generate<<<g, 256>>>((u8*)keys, n, dist, seed);
    if (kb == 2) generate<<<g, 256>>>((u16*)keys, n, dist, seed);
    if (kb == 4) generate<<<g, 256>>>((u32*)keys, n, dist, seed);
    if (kb == 8) generate<<<g, 256>>>((u64*)keys, n, dist, seed);
    if (kb == 16) generate<<<g, 256>>>((u128*)keys, n, dist, seed);
    CHECK(cudaGetLastError());
}
__global__ void positions(u32* out, u64 n, u32 words) {
    u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    if (i < n) for (u32 w = 0; w < words; w++) out[i * words + w] = w == 0 ? (u32)i : w == 1 ? (u32)(i >> 32) : 0xabcd + w;
}
static void gen_values(void* v, u32 vb, u64 n) { if (vb && n) positions<<<(u32)((n + 255) / 256), 256>>>((u32*)v, n, vb / 4); }
__global__ void differ(const u32* a, const u32* b, u64 words, unsigned long long* out) {
    u64 step = (u64)gridDim.x * blockDim.x, bad = 0;
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < words; i += step) bad += a[i] != b[i];
    if (bad) atomicAdd(out, bad);
}

static Buffers buffers;
static void *source_keys, *source_values, *cub_keys, *cub_values, *cub_temp;
static size_t cub_temp_bytes;
static unsigned long long* counter;
static u64 differences(const void* a, const void* b, u64 bytes) {
    CHECK(cudaMemset(counter, 0, 8));
    if (bytes >= 4) differ<<<1024, 256>>>((const u32*)a, (const u32*)b, bytes / 4, counter);
    u64 h; CHECK(cudaMemcpy(&h, counter, 8, cudaMemcpyDeviceToHost)); return h;
}
static void restore(const Variant& v, u64 n) {
    CHECK(cudaMemcpyAsync(buffers.keys[0], source_keys, n * v.key_bytes, cudaMemcpyDeviceToDevice));
    if (v.value_bytes) CHECK(cudaMemcpyAsync(buffers.values[0], source_values, n * v.value_bytes, cudaMemcpyDeviceToDevice));
}
static Buffers in_place() { Buffers b = buffers; b.keys[1] = b.keys[0]; b.values[1] = b.values[0]; return b; }
static int failures = 0, passed = 0;

static void run_cub(u32 kb, u32 vb, u64 n, u32 begin, u32 end) {
    size_t bytes = 0;
    cub_sort(kb, vb, nullptr, bytes, source_keys, cub_keys, source_values, cub_values, n, begin, end, 0);
    if (bytes > cub_temp_bytes) { printf("FATAL cub temp %zu\n", bytes); exit(3); }
    bytes = cub_temp_bytes;
    cub_sort(kb, vb, cub_temp, bytes, source_keys, cub_keys, source_values, cub_values, n, begin, end, 0);
}
static bool has_cub(const Variant& v) { return (v.key_bytes == 4 || v.key_bytes == 8) && v.value_bytes <= 8; }

static void report(const Variant& v, bool ok, const char* what, u64 n, const char* dist) {
    if (ok != v.must_fail || (v.must_fail && ok)) {}
    if (ok) passed++;
    else { failures++; if (failures < 60) printf("FAIL u%u+%u %s: %s n=%llu %s\n", v.key_bytes * 8, v.value_bytes, v.name.c_str(), what, n, dist); }
}
// Against CUB, on the device.
static bool check_cub(const Variant& v, u64 n, int dist, const Options& o) {
    u32 end = o.end_bit ? o.end_bit : 8 * v.key_bytes;
    gen(source_keys, v.key_bytes, n, dist, n + dist);
    gen_values(source_values, v.value_bytes, n);
    if (n) run_cub(v.key_bytes, v.value_bytes, n, o.begin_bit, end);
    Buffers b = in_place();
    if (o.in_place) restore(v, n);
    else {
        b = buffers; b.keys[0] = source_keys; b.values[0] = source_values; b.keys[1] = buffers.keys[0]; b.values[1] = buffers.values[0];
        CHECK(cudaMemset(b.keys[1], 0x77, n * v.key_bytes));
    }
    enqueue_any(v, b, n, o, 0);
    CHECK(cudaDeviceSynchronize());
    u64 bad = differences(buffers.keys[0], cub_keys, n * v.key_bytes);
    if (v.value_bytes) bad += differences(buffers.values[0], cub_values, n * v.value_bytes);
    return bad == 0;
}
// Against the standard library, on the host; all options.
template <class K> K code_of(K x, const Codec<K>& c) { K s = K(K(0) - K(x >> (8 * sizeof(K) - 1))); return K((x ^ (s & c.float_mask) ^ c.exclusive) - c.rotate); }
template <class K>
static bool check_host(const Variant& v, u64 n, int dist, const Options& o) {
    u32 end = o.end_bit ? o.end_bit : 8 * sizeof(K);
    gen(source_keys, v.key_bytes, n, dist, n + dist + 5);
    gen_values(source_values, v.value_bytes, n);
    std::vector<K> in(n), out(n);
    CHECK(cudaMemcpy(in.data(), source_keys, n * sizeof(K), cudaMemcpyDeviceToHost));
    Codec<K> codec = codec_of<K>(o.exclusive);
    std::vector<u32> order(n); std::iota(order.begin(), order.end(), 0);
    K mask = end - o.begin_bit == 8 * sizeof(K) ? K(~K(0)) : K((K(1) << (end - o.begin_bit)) - 1);
    std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) {
        return K(K(code_of(in[a], codec) >> o.begin_bit) & mask) < K(K(code_of(in[b], codec) >> o.begin_bit) & mask); });
    Buffers b = in_place();
    if (o.in_place) restore(v, n);
    else { b = buffers; b.keys[0] = source_keys; b.values[0] = o.index ? nullptr : source_values; b.keys[1] = buffers.keys[0]; b.values[1] = buffers.values[0]; }
    enqueue_any(v, b, n, o, 0);
    CHECK(cudaDeviceSynchronize());
    if (o.keys_out) {
        CHECK(cudaMemcpy(out.data(), buffers.keys[0], n * sizeof(K), cudaMemcpyDeviceToHost));
        for (u64 i = 0; i < n; i++) if (out[i] != in[order[i]]) return false;
    }
    if (v.value_bytes) {
        std::vector<u32> values(n * v.value_bytes / 4);
        CHECK(cudaMemcpy(values.data(), buffers.values[0], n * v.value_bytes, cudaMemcpyDeviceToHost));
        for (u64 i = 0; i < n; i++) if (values[i * v.value_bytes / 4] != order[i]) return false;
    }
    return true;
}
static bool check_host_any(const Variant& v, u64 n, int dist, const Options& o) {
    switch (v.key_bytes) {
        case 1: return check_host<u8>(v, n, dist, o); case 2: return check_host<u16>(v, n, dist, o);
        case 4: return check_host<u32>(v, n, dist, o); case 8: return check_host<u64>(v, n, dist, o);
        default: return check_host<u128>(v, n, dist, o);
    }
}

static void check_variant(const Variant& v) {
    if (v.must_fail) {
        bool ok = check_cub(v, 1 << 20, v.value_bytes ? UNIFORM : AND3, {});
        printf("%s u%u+%u %s: the deliberately wrong one %s\n", ok ? "FAIL" : "ok", v.key_bytes * 8, v.value_bytes, v.name.c_str(), ok ? "was NOT caught" : "was caught");
        if (ok) failures++; else passed++;
        return;
    }
    const int dists[] = {UNIFORM, EQUAL, SORTED, ZIPF, AND3, TWO, SMALL};
    u64 most = v.small ? v.tile : 1ull << 30;
    std::vector<u64> sizes = {1, 2, 3, 31, 33, 255, 257, 1023, 1025, v.tile - 1, v.tile, v.tile + 1ull, 3ull * v.tile + 17, 65535, 65537, (1 << 20) - 1, (1 << 20) + 1};
    std::vector<Options> modes(1);
    bool equal_sizes = v.value_bytes == v.key_bytes;
    if (equal_sizes && !v.small) { Options o; o.records = true; modes.push_back(o); }
    if (has_cub(v)) {
        for (auto& o : modes) {
            for (u64 n : sizes) if (n <= most) report(v, check_cub(v, n, UNIFORM, o), o.records ? "records" : "cub", n, "uniform");
            for (int d : dists) { u64 n = std::min<u64>(most, (1 << 20) + 17); report(v, check_cub(v, n, d, o), o.records ? "records" : "cub", n, DISTS[d]); }
            Options p = o; p.pdl = true;
            report(v, check_cub(v, std::min<u64>(most, 300001), UNIFORM, p), "pdl", 300001, "uniform");
            if (!v.small) {
                p = o; p.portion = 3;
                report(v, check_cub(v, 11ull * v.tile + 5, AND3, p), "portions", 11ull * v.tile + 5, "and3");
                p = o; p.in_place = false;
                for (int d : {UNIFORM, EQUAL, SMALL, ZIPF}) report(v, check_cub(v, 200003, d, p), "apart", 200003, DISTS[d]);
            }
            if (!v.bits) for (auto [b, e] : {std::pair<u32, u32>{0, 8}, {5, 19}, {8, 32}, {31, 32}, {3, 28}}) {
                p = o; p.begin_bit = b; p.end_bit = e;
                for (int d : {UNIFORM, AND3, SMALL}) report(v, check_cub(v, std::min<u64>(most, 100003), d, p), "bits", b * 100 + e, DISTS[d]);
            }
        }
    }
    std::vector<u64> few = {1, 2, 3, 100, 4999};
    if (!has_cub(v)) few = {1, 2, 3, 100, 4999, v.tile - 1, v.tile, v.tile + 1ull, 100003};
    for (auto& o : modes) for (u64 n : few) if (n <= most) for (u32 codec : {0u, 1u, 2u}) for (int d : {UNIFORM, AND3, EQUAL}) {
        Options p = o; p.exclusive = codec; report(v, check_host_any(v, n, d, p), "host, codec", n, DISTS[d]);
        if (!v.bits && v.key_bytes >= 4) { p.begin_bit = 7; p.end_bit = 26; report(v, check_host_any(v, n, d, p), "host, codec, bits", n, DISTS[d]); }
    }
    if (v.value_bytes == 4 || v.value_bytes == 8) for (auto& o : modes) for (u64 n : {1ull, 100ull, 5003ull, 3ull * v.tile + 1}) if (n <= most) for (int d : {UNIFORM, AND3, EQUAL, ZIPF}) {
        Options p = o; p.index = true; p.keys_out = false; p.in_place = false; p.exclusive = 1;
        report(v, check_host_any(v, n, d, p), o.records ? "argsort records" : "argsort", n, DISTS[d]);
    }
}

static cudaEvent_t e0, e1;
template <class F> static double timed(F f) { CHECK(cudaEventRecord(e0)); f(); CHECK(cudaEventRecord(e1)); CHECK(cudaEventSynchronize(e1)); float ms; CHECK(cudaEventElapsedTime(&ms, e0, e1)); return ms; }
static double median(std::vector<double> x) { std::sort(x.begin(), x.end()); return x[x.size() / 2]; }

struct Contender { std::string name; const Variant* v; Options o; std::vector<double> ms; bool ok = true; };

// Interleaved: every contender once a round. Contender 0 is CUB, where there is one.
static std::vector<Contender> bench(const std::vector<Contender>& list, u32 kb, u32 vb, u64 n, int dist, int rounds, bool verify) {
    std::vector<Contender> c = list;
    Variant shape; shape.key_bytes = kb; shape.value_bytes = vb;
    gen(source_keys, kb, n, dist, 42); gen_values(source_values, vb, n);
    CHECK(cudaDeviceSynchronize());
    bool cub = has_cub(shape);
    if (cub) run_cub(kb, vb, n, 0, 8 * kb);
    for (int r = -1; r < rounds; r++) for (auto& x : c) {
        double ms;
        if (!x.v) { ms = timed([&] { run_cub(kb, vb, n, 0, 8 * kb); }); }
        else {
            restore(shape, n);
            Buffers b = in_place();
            if (x.o.index) { b.keys[0] = source_keys; b.keys[1] = nullptr; b.values[1] = buffers.values[0]; b.values[0] = nullptr; }
            ms = timed([&] { enqueue_any(*x.v, b, n, x.o, 0); });
            if (verify && r == -1 && cub) {
                u64 bad = x.o.index ? 0 : differences(buffers.keys[0], cub_keys, n * kb);
                if (vb) bad += differences(buffers.values[0], cub_values, n * vb);
                if (bad) { x.ok = false; failures++; }
            }
        }
        if (r >= 0) x.ms.push_back(ms);
    }
    return c;
}
static std::vector<Contender> contenders(u32 kb, u32 vb, u64 n, bool records_too = true) {
    std::vector<Contender> list;
    Variant shape; shape.key_bytes = kb; shape.value_bytes = vb;
    if (has_cub(shape)) list.push_back({"CUB", nullptr, {}, {}});
    for (auto& v : variants()) if (v.key_bytes == kb && v.value_bytes == vb && v.bench && (!v.small || n <= v.tile)) {
        list.push_back({v.name, &v, {}, {}});
        if (records_too && kb == vb && !v.small) { Options o; o.records = true; list.push_back({v.name + " RECORDS", &v, o, {}}); }
    }
    return list;
}
static void breakdown(const Contender& c, u32 kb, u32 vb, u64 n, int dist) {
    Variant shape; shape.key_bytes = kb; shape.value_bytes = vb;
    gen(source_keys, kb, n, dist, 42); gen_values(source_values, vb, n);
    restore(shape, n);
    Timing t; enqueue_any(*c.v, in_place(), n, c.o, 0, &t);
    CHECK(cudaDeviceSynchronize());
    printf("  stages ms (%s, %s, n=%llu): zero, histograms, begins, passes:", c.name.c_str(), DISTS[dist], n);
    for (size_t i = 1; i < t.events.size(); i++) { float ms; CHECK(cudaEventElapsedTime(&ms, t.events[i - 1], t.events[i])); printf(" %.4f", ms); }
    printf("\n");
}

int main(int argc, char** argv) {
    std::string mode = argc > 1 ? argv[1] : "all";
    int top = argc > 2 ? atoi(argv[2]) : 28;
    setvbuf(stdout, nullptr, _IOLBF, 0);
    auto t0 = std::chrono::steady_clock::now();
    auto clock = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count(); };
    cudaDeviceProp prop; CHECK(cudaGetDeviceProperties(&prop, 0));
    int sms = prop.multiProcessorCount;
    printf("%s, %d SMs, %zu MB L2\n", prop.name, sms, (size_t)prop.l2CacheSize >> 20);
    CHECK(cudaEventCreate(&e0)); CHECK(cudaEventCreate(&e1));
    u64 n = 1ull << top;
    size_t big = (n + 64) * 8, records = (n + 64) * 16;
    CHECK(cudaMalloc(&source_keys, big)); CHECK(cudaMalloc(&source_values, big));
    CHECK(cudaMalloc(&cub_keys, big)); CHECK(cudaMalloc(&cub_values, big));
    CHECK(cudaMalloc(&buffers.keys[0], big)); CHECK(cudaMalloc(&buffers.values[0], big));
    CHECK(cudaMalloc(&buffers.keys[2], records)); CHECK(cudaMalloc(&buffers.keys[3], records));
    CHECK(cudaMalloc(&buffers.values[2], big)); CHECK(cudaMalloc(&buffers.values[3], big));
    buffers.workspace_bytes = std::max<size_t>((n >> 11) * 8 * RADIX * 4, 64 << 20) + (64 << 20); CHECK(cudaMalloc(&buffers.workspace, buffers.workspace_bytes));
    cub_temp_bytes = big * 2 + (256 << 20); CHECK(cudaMalloc(&cub_temp, cub_temp_bytes));
    CHECK(cudaMalloc(&counter, 8));
    prepare_fixed<u8>(sms); prepare_fixed<u16>(sms); prepare_fixed<u32>(sms); prepare_fixed<u64>(sms); prepare_fixed<u128>(sms);
    register_u32(); register_u64(); register_pairs(); register_other();
    std::string only = argc > 3 ? argv[3] : "";
    auto wanted = [&](u32 kb, u32 vb) { return only.empty() || only == std::to_string(kb) + "+" + std::to_string(vb) || (only == "other" && (kb < 4 || kb > 8 || vb > 8 || kb + vb == 12)); };
    auto& vs = variants();
    vs.erase(std::remove_if(vs.begin(), vs.end(), [&](auto& v) { return !wanted(v.key_bytes, v.value_bytes); }), vs.end());
    printf("%-10s %-30s %5s %5s %7s %8s %6s\n", "type", "variant", "regs", "local", "tile", "shared", "blocks");
    for (auto& v : variants()) {
        cudaFuncAttributes a; CHECK(cudaFuncGetAttributes(&a, v.kernel));
        v.regs = a.numRegs; v.local = a.localSizeBytes;
        if (v.shared > 227 * 1024) { printf("TOO LARGE %s %zu\n", v.name.c_str(), v.shared); v.bench = false; v.grid = 0; continue; }
        CHECK(cudaFuncSetAttribute(v.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)v.shared));
        int blocks = 0; CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, v.kernel, v.threads, v.shared));
        v.grid = blocks * sms;
        printf("u%u+%-6u %-30s %5d %5zu %7u %8zu %6d\n", v.key_bytes * 8, v.value_bytes, v.name.c_str(), v.regs, v.local, v.tile, v.shared, blocks);
    }
    if (mode != "bench") {
        for (auto& v : variants()) if (v.grid) check_variant(v);
        printf("checks: %d passed, %d FAILED (%.1f s)\n", passed, failures, clock());
    }
    if (mode == "check") return failures ? 1 : 0;

    // Warm up, and the copy's bandwidth.
    { std::vector<double> ms; for (int i = 0; i < 60; i++) ms.push_back(timed([&] { CHECK(cudaMemcpyAsync(cub_keys, source_keys, big - 512, cudaMemcpyDeviceToDevice)); }));
      printf("copy of %zu MB: %.0f GB/s read plus write\n", big >> 20, 2.0 * (big - 512) / median(ms) / 1e6); }

    std::vector<std::pair<u32, u32>> types = {{4, 0}, {8, 0}, {4, 4}, {8, 8}, {4, 8}, {8, 4}, {1, 0}, {2, 0}, {2, 4}};
    std::map<std::pair<u32, u32>, std::vector<Contender>> best;
    for (auto [kb, vb] : types) {
        if (!wanted(kb, vb)) continue;
        std::vector<u64> ns = {1ull << 20, 1ull << 24, n};
        auto list = contenders(kb, vb, n);
        std::map<std::string, std::vector<double>> table;
        std::vector<Contender> at_top;
        for (u64 m : ns) {
            auto c = bench(list, kb, vb, m, UNIFORM, m == n ? 7 : 15, true);
            for (auto& x : c) { table[x.name].push_back(median(x.ms)); if (!x.ok) printf("FAIL timed run of %s is wrong, n=%llu\n", x.name.c_str(), m); }
            at_top = c;
        }
        printf("\nu%u+%u uniform: Gkeys/s (against CUB) at 2^20, 2^24, 2^%d; ms at 2^%d   (%.0f s)\n", kb * 8, vb, top, top, clock());
        std::stable_sort(list.begin(), list.end(), [&](auto& a, auto& b) { return table[a.name].back() < table[b.name].back(); });
        for (auto& x : list) {
            printf("  %-34s", x.name.c_str());
            for (size_t i = 0; i < ns.size(); i++) {
                double ms = table[x.name][i];
                printf(" %7.2f", ns[i] / ms / 1e6);
                if (table.count("CUB")) printf(" (%.2f)", table["CUB"][i] / ms);
            }
            printf(" %8.3f\n", table[x.name].back());
        }
        auto& b = best[{kb, vb}];
        if (table.count("CUB")) b.push_back({"CUB", nullptr, {}, {}});
        int safe = 0, documented = 0;
        for (auto& x : list) {
            if (!x.v || x.name.find("UNSAFE") == 0 || x.name.find("DISORD") == 0) continue;
            bool doc = x.name.find("masks") == 0 || x.name.find("halves") == 0;
            if (doc ? documented++ < 1 : safe++ < 2) b.push_back(x);
        }
        for (auto& x : b) if (x.v) { breakdown(x, kb, vb, n, UNIFORM); break; }
    }

    printf("\nDistributions at 2^%d: Gkeys/s, the best of uniform   (%.0f s)\n", top, clock());
    for (auto [kb, vb] : std::vector<std::pair<u32, u32>>{{4, 0}, {8, 0}, {4, 4}, {8, 8}}) {
        if (!wanted(kb, vb)) continue;
        auto list = best[{kb, vb}];
        if (kb == 4 && !vb) for (auto& v : variants()) if (v.key_bytes == 4 && !v.value_bytes && v.name.find("add 512x36") == 0) list.push_back({v.name, &v, {}, {}});
        printf("u%u+%u:", kb * 8, vb); for (auto& x : list) printf(" | %s", x.name.c_str()); printf("\n");
        for (int d : {EQUAL, SORTED, REVERSE, ZIPF, AND3, AND5, TWO, SMALL, FEW16, STAMPS, NEARLY}) {
            if (d == STAMPS && kb != 8) continue;
            auto c = bench(list, kb, vb, n, d, 3, true);
            printf("  %-10s", DISTS[d]);
            for (auto& x : c) printf(" %7.2f%s", n / median(x.ms) / 1e6, x.ok ? "" : "WRONG");
            printf("\n");
        }
        if (list.size() > 1) { breakdown(list[1], kb, vb, n, EQUAL); breakdown(list[1], kb, vb, n, SORTED); breakdown(list[1], kb, vb, n, ZIPF); breakdown(list[1], kb, vb, n, SMALL); }
    }

    printf("\nSmall and middle n: median us (plain launches / dependent launches)   (%.0f s)\n", clock());
    for (auto [kb, vb] : std::vector<std::pair<u32, u32>>{{4, 0}, {8, 0}, {4, 4}}) {
        if (!wanted(kb, vb)) continue;
        std::vector<Contender> list;
        list.push_back({"CUB", nullptr, {}, {}});
        for (auto& v : variants()) if (v.key_bytes == kb && v.value_bytes == vb && v.bench && (v.small || v.name.find("x8 x4") != std::string::npos || v.name.find("256x16") != std::string::npos || v.name.find("512x12") != std::string::npos || v.name.find("halves 512x24") == 0 || v.name == "add 512x36" || v.name == "add 512x20"))
            for (bool pdl : {false, true}) { Options o; o.pdl = pdl; list.push_back({v.name + (pdl ? " PDL" : ""), &v, o, {}}); }
        std::vector<u64> ns = {1, 100, 1000, 4000, 8000, 10000, 16000, 32000, 100000, 316000, 1000000, 3160000};
        printf("u%u+%u %-26s", kb * 8, vb, "n ="); for (u64 m : ns) printf(" %8llu", m); printf("\n");
        std::map<std::string, std::map<u64, double>> us;
        for (u64 m : ns) {
            std::vector<Contender> some;
            for (auto& x : list) if (!x.v || !x.v->small || m <= x.v->tile) some.push_back(x);
            for (auto& x : bench(some, kb, vb, m, UNIFORM, 25, true)) { us[x.name][m] = median(x.ms) * 1000; if (!x.ok) printf("FAIL %s n=%llu\n", x.name.c_str(), m); }
        }
        for (auto& x : list) { printf("      %-28s", x.name.c_str()); for (u64 m : ns) if (us[x.name].count(m)) printf(" %8.1f", us[x.name][m]); else printf(" %8s", "-"); printf("\n"); }
        for (auto& x : list) if (x.v && !x.v->small && !x.o.pdl) { breakdown(x, kb, vb, 100000, UNIFORM); }
    }
    if (wanted(4, 4)) printf("\nArgsort, u32 keys, u32 index, 2^%d, Gkeys/s (CUB: pairs)\n", top);
    if (wanted(4, 4)) {
        std::vector<Contender> list = {{"CUB", nullptr, {}, {}}};
        for (auto& x : best[{4, 4}]) if (x.v) { Options o; o.index = true; o.keys_out = false; o.in_place = false; list.push_back({x.name + " argsort", x.v, o, {}}); o.records = !o.records; list.push_back({x.name + " argsort, records", x.v, o, {}}); }
        for (auto& x : bench(list, 4, 4, n, UNIFORM, 5, true)) printf("  %-44s %7.2f%s\n", x.name.c_str(), n / median(x.ms) / 1e6, x.ok ? "" : " WRONG");
    }
    printf("\nall: %d checks passed, %d FAILED (%.0f s)\n", passed, failures, clock());
    return failures ? 1 : 0;
}
