// A check that depends on a read as far away as a slice goes: its callers hand down what a nest of
// callees has read. Calls in cold parts count as well.
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

int deep, shallow, other, rare, sink;
#define APART __attribute__((noipa))

APART void check(int ok) {
    sink++;
    assert(ok > 0);
}
APART void hands_on(int ok) { sink++; check(ok); sink++; }
APART void hands_on_again(int ok) { sink++; hands_on(ok); sink++; }

APART int reads(void) { return deep; }
APART int returns(void) { sink++; return reads(); }
APART int returns_again(void) { sink++; return returns(); }
APART void top(void) {
    sink++;
    hands_on_again(returns_again());
    sink++;
}

APART int tells(void) { return rare; }
APART void gives_up(void) {
    sink++;
    if (__builtin_expect(shallow < 0, 0)) {
        if (tells() > 3) fprintf(stderr, "rare\n");
        abort();
    }
    sink++;
}

APART void has_nothing_to_do_with_it(void) {
    for (int i = 0; i < 9; i++)
        if (other > i) fprintf(stderr, "other %d\n", i);
    if (other == 12) abort();
}

int main(void) {
    top();
    gives_up();
    has_nothing_to_do_with_it();
    return 0;
}
