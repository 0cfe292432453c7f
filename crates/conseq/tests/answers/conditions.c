// Assertions and error messages that depend on shared variables: directly, through locals,
// arithmetic, pointers, arrays and spilled registers.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int state, noise, sink, in_progress, other, low, high, table[16], place, values[16], bad, served, verbose;
void *running;
struct request { int kind, size; struct request *next; } *head;

__attribute__((noinline)) void use(int x) { sink += x; }

__attribute__((noinline)) void direct(void) {
    use(noise);
    assert(state == 1); // [state] ~ assert: state@1 fails(state=2) holds(state=1)
    use(2);
}

// The paper's figure 5.
__attribute__((noinline)) void figure5(void) {
    int busy = 0;
    use(other);
    if (in_progress) { // [progress]
        use(1);
        busy = 1;
    }
    use(other);
    if (busy)
        assert(running); // [running] ~ assert: running@1 progress@3 fails(running=0) holds(running=9)
}

__attribute__((noinline)) int ranges(int *p, int n) {
    int a = low;  // [low]
    int b = high; // [high]
    use(table[3]);
    use(n);
    assert(a <= b); // ~ assert: low@1 high@1 fails(low=3,high=1) holds(low=1,high=3)
    int i = place;  // [place]
    use(a);
    assert(i >= 0 && i < 16); // ~ assert: place@1 fails(place=16) fails(place=-1) holds(place=15)
    assert(table[i] != 7); // [element] ~ assert: element@1 place@3 fails(element=7) holds(element=6)
    int v = *p; // [pointed]
    use(b);
    if (v * 2 + a > b)
        abort(); // ~ assert: high@1 low@2 pointed@3 fails(pointed=5,low=0,high=9) holds(pointed=5,low=0,high=10)
    return v;
}

__attribute__((noinline)) void heap(void) {
    struct request *r = head; // [head]
    int size = r->size;       // [size] ~ memory: head@1
    int kind = r->kind;
    use(kind);
    if (size < 0 || size > 4096)
        fprintf(stderr, "bad size\n"); // ~ error: size@1 head@2 fails(size=5000) fails(size=-1) holds(size=4096)
    if (served & 1)                    // [served]
        fprintf(stderr, "odd %d\n", kind); // ~ error: served@2 size? head? fails(served=3) holds(served=2)
}

// More live values than registers. At -O2 each test is there twice, once for each way out of the one
// before. By the definition of control dependence it then depends on that one too.
__attribute__((noinline)) void spilled(void) {
    int a = values[0];      // [v0]
    int b = values[1];      // [v1]
    int c = values[2];      // [v2]
    int d = values[3];      // [v3]
    int e = values[4];      // [v4]
    int f = values[5];      // [v5]
    int g = values[6];      // [v6]
    int h = values[7];      // [v7]
    int z = noise;
    use(a); use(b); use(c); use(d); use(e); use(f); use(g); use(h); use(z);
    if (bad) // [bad]
        fprintf(stderr, "bad\n"); // ~ error: bad@1 fails(bad=1) holds(bad=0)
    if (a == 3 && c == 4)
        perror("both"); // ~ error: v0@2 v2@2 fails(v2=4) holds(v2=5)
    if (e + f == 5)
        perror("sum"); // ~ error: v4@2 v5@2 v0?#2 v2?#2 fails(v4=2,v5=3) holds(v4=2,v5=2)
    use(z);
    if (b == 3 || d == 5)
        perror("either"); // ~ error: v1@2 v3@2 v0?#2 v2?#2 v4?#2 v5?#2
    if (g > h)
        perror("order"); // ~ error: v6@1 v7@1 v0?#2 v1?#2 v2?#2 v3?#2 v4?#2 v5?#2 fails(v6=2,v7=1) holds(v6=1,v7=2)
}

void *worker(void *p) {
    direct();
    figure5();
    use(ranges(p, 3));
    heap();
    spilled();
    return 0;
}

int main(void) {
    static int z;
    pthread_t t;
    head = calloc(1, sizeof *head);
    pthread_create(&t, 0, worker, &z);
    state = in_progress = 1;
    running = &t;
    low = 1, high = 2, place = 3, bad = 0, served = 2;
    pthread_join(t, 0);
    return verbose;
}
