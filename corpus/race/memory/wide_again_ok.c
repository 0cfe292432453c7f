// Accesses of 16 bytes, again and again, under a lock, and each thread's own: nothing to report. The sums show that the
// vector registers and the flags around them keep their values.
// expect: nothing
#include <pthread.h>
#include <stdio.h>
#include <emmintrin.h>

_Alignas(16) long shared[2];
_Alignas(16) int own[2][12];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *add(void *arg) {
    int *mine = arg;
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&lock);
        for (int n = 0; n < 10; n++) {
            __m128i sum = _mm_add_epi64(_mm_load_si128((__m128i *)shared), _mm_set_epi64x(2, 1));
            _mm_store_si128((__m128i *)shared, sum);
        }
        pthread_mutex_unlock(&lock);
        __m128i next = _mm_add_epi32(_mm_loadu_si128((__m128i *)&mine[1]), _mm_set1_epi32(i));
        _mm_storeu_si128((__m128i *)&mine[1], next);
        next = _mm_add_epi32(_mm_loadu_si128((__m128i *)&mine[6]), _mm_set1_epi32(i));
        _mm_storeu_si128((__m128i *)&mine[6], next);
    }
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, add, own[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    int right = shared[0] == 2000 && shared[1] == 4000;
    for (int i = 0; i < 2; i++)
        for (int n = 0; n < 12; n++) right &= own[i][n] == (n >= 1 && n != 5 && n <= 9 ? 4950 : 0);
    puts(right ? "right" : "wrong");
    return !right;
}
