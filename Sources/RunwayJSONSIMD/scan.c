#include "include/RunwayJSONSIMD.h"

#if defined(__x86_64__)

extern size_t runway_json_scan_avx2(
    runway_json_scan_state *, const uint8_t *, size_t, uint32_t, uint32_t *, uint8_t *);
extern size_t runway_json_scan_avx512(
    runway_json_scan_state *, const uint8_t *, size_t, uint32_t, uint32_t *, uint8_t *);

static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt")
        && __builtin_cpu_supports("pclmul");
}

static bool has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi")
        && __builtin_cpu_supports("avx512vbmi2");
}

runway_json_scan runway_json_scan_number(size_t number) {
    runway_json_scan scans[3] = {0};
    size_t count = 0;
    if (has_avx512()) scans[count++] = runway_json_scan_avx512;
    if (has_avx2()) scans[count++] = runway_json_scan_avx2;
    return number < count ? scans[number] : 0;
}

#elif defined(__aarch64__)

extern size_t runway_json_scan_neon(
    runway_json_scan_state *, const uint8_t *, size_t, uint32_t, uint32_t *, uint8_t *);

runway_json_scan runway_json_scan_number(size_t number) { return number == 0 ? runway_json_scan_neon : 0; }

#else

runway_json_scan runway_json_scan_number(size_t number) {
    (void)number;
    return 0;
}

#endif
