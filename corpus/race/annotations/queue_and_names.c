// A queue by PCQ_PUT and PCQ_GET, and the names that WebKit, sanitizers' headers and other tools use: all of them link.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include "raddle/annotations.h"

void WTFAnnotateHappensBefore(const char *, int, const volatile void *);
void WTFAnnotateHappensAfter(const char *, int, const volatile void *);
void WTFAnnotateBenignRaceSized(const char *, int, const volatile void *, long, const char *);
void AnnotateMemoryIsInitialized(const char *, int, const volatile void *, long);
void AnnotateMemoryIsUninitialized(const char *, int, const volatile void *, long);
void AnnotateFlushExpectedRaces(const char *, int);
double ValgrindSlowdown(void);
const char *ThreadSanitizerQuery(const char *);
uint16_t __sanitizer_unaligned_load16(const void *);
void __sanitizer_unaligned_store16(void *, uint16_t);
uint32_t __sanitizer_unaligned_load32(const void *);
void __sanitizer_unaligned_store32(void *, uint32_t);
uint64_t __sanitizer_unaligned_load64(const void *);
void __sanitizer_unaligned_store64(void *, uint64_t);

int element, data, benign;
char queue, order;
char bytes[32];
atomic_int step; // relaxed: synchronises nothing

void *work(void *arg) {
    element = data = 1;
    benign++;
    ANNOTATE_PCQ_PUT(&queue);
    WTFAnnotateHappensBefore(__FILE__, __LINE__, &order);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    element = data = benign = 0;
    ANNOTATE_PCQ_CREATE(&queue);
    WTFAnnotateBenignRaceSized(__FILE__, __LINE__, &benign, sizeof benign, "");
    AnnotateMemoryIsInitialized(__FILE__, __LINE__, &data, sizeof data);
    AnnotateMemoryIsUninitialized(__FILE__, __LINE__, &data, sizeof data);
    AnnotateFlushExpectedRaces(__FILE__, __LINE__);
    ANNOTATE_TRACE_MEMORY(&data);
    ANNOTATE_NO_OP(&data);
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    ANNOTATE_PCQ_GET(&queue);
    element = 2;
    WTFAnnotateHappensAfter(__FILE__, __LINE__, &order);
    data = 2;
    benign++;
    pthread_join(t, 0);
    ANNOTATE_PCQ_DESTROY(&queue);
    __sanitizer_unaligned_store16(bytes + 1, 0x1234);
    __sanitizer_unaligned_store32(bytes + 5, 0x12345678);
    __sanitizer_unaligned_store64(bytes + 11, 0x123456789abcdef0);
    int same = __sanitizer_unaligned_load16(bytes + 1) == 0x1234 && __sanitizer_unaligned_load32(bytes + 5) == 0x12345678
        && __sanitizer_unaligned_load64(bytes + 11) == 0x123456789abcdef0;
    return same && ValgrindSlowdown() > 1 && !strcmp(ThreadSanitizerQuery(""), "0") ? 0 : 1;
}
