// A table of functions that nobody defines, known by their names: each thread takes the lock through
// it, so that one waits for the other. A third function gets one of the program's own to call.
extern void my_mutex_lock(void *);
extern void my_mutex_unlock(void *);
extern unsigned long my_thread_create(void *(*)(void *), void *);
extern void my_thread_join(unsigned long);
extern void visit_all(void (*)(int *));

static struct operations {
    void (*take)(void *);
    void (*give)(void *);
    unsigned long (*begin)(void *(*)(void *), void *);
    void (*wait_for)(unsigned long);
    void (*visit)(void (*)(int *));
} operations = {my_mutex_lock, my_mutex_unlock, my_thread_create, my_thread_join, visit_all};

static int m, count, visits;

static void visitor(int *unused) {
    visits++;
}

static void add(void) {
    operations.take(&m);
    for (int i = 0; i < 20; i++)
        count++;
    operations.give(&m);
}

static void *work(void *arg) {
    add();
    return arg;
}

int main(void) {
    operations.visit(visitor);
    unsigned long t = operations.begin(work, 0);
    add();
    operations.wait_for(t);
    return count + visits;
}
