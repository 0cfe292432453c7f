// Memory that goes with the thread, touched by tasks and sections that nothing orders: elements chosen by the thread's number,
// thread-local storage and what it points to, frames that are used again, also by children that were waited for, variables that are
// private to the region, and blocks allocated for them.
//@ flags: -O1 -fopenmp
// expect: nothing
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static int count[8], later[8], result[2];
static int local_count;
#pragma omp threadprivate(local_count)
static _Thread_local int *scratch;

static void fill(int *to, int n) {
    for (int i = 0; i < n; i++) to[i] = i;
}

static int with_frame(int n) {
    int frame[200];
    fill(frame, 200);
    int sum = 0;
#pragma omp task shared(frame, sum)
    for (int i = 0; i < 100; i++) sum += frame[i] * n;
#pragma omp taskwait
    fill(frame, 100);
    return sum + frame[7];
}

static void with_scratch(int n) {
    if (!scratch) scratch = malloc(64 * sizeof *scratch);
    for (int i = 0; i < 64; i++) scratch[i] = n;
}

static void tasks(void) {
    for (int i = 0; i < 60; i++) {
#pragma omp task
        {
            count[omp_get_thread_num()]++;
            local_count++;
        }
#pragma omp task firstprivate(i)
        with_frame(i);
#pragma omp task firstprivate(i)
        with_scratch(i);
    }
    int own[100];
    fill(own, 100);
    later[omp_get_thread_num()] += own[3];
}

static void sections(void) {
#pragma omp parallel num_threads(2)
    {
        int number = omp_get_thread_num(), private_sum = 0;
#pragma omp sections
        {
#pragma omp section
            later[number] = 1;
#pragma omp section
            later[number] = 2;
#pragma omp section
            later[number] = 3;
        }
        private_sum += number;
    }
    int first = 1, last = 0;
#pragma omp parallel num_threads(2)
    {
        int *block = malloc(40), on_stack[10] = {0};
#pragma omp sections firstprivate(first) lastprivate(last)
        {
#pragma omp section
            {
                memset(block, 1, 40);
                on_stack[1] = first++;
            }
#pragma omp section
            {
                memset(block, 2, 40);
                on_stack[1] = first++;
                result[0] = 1;
            }
#pragma omp section
            {
                memset(block, 3, 40);
                on_stack[1]++;
                last = first++;
            }
        }
        on_stack[1] += block[3];
        free(block);
    }
    result[1] = last;
}

/* The elements lie on the stack of the thread that began the region. */
static int on_the_stack(void) {
    int each[8] = {0}, sum = 0;
#pragma omp parallel num_threads(8)
    {
        each[omp_get_thread_num()]++;
#pragma omp sections
        {
#pragma omp section
            each[omp_get_thread_num()]++;
#pragma omp section
            each[omp_get_thread_num()]++;
        }
#pragma omp single
        for (int i = 0; i < 20; i++) {
#pragma omp task
            each[omp_get_thread_num()]++;
        }
    }
    for (int i = 0; i < 8; i++) sum += each[i];
    return sum;
}

int main(void) {
    if (on_the_stack() != 30) return 1;
#pragma omp parallel num_threads(3)
    {
#pragma omp single
        tasks();
    }
    sections();
    return result[0] == 1 && result[1] ? 0 : 1;
}
