// Pipes and queues that hold one message each are locks, however it is written: whole, in parts, by a stream, in packets, by splicing.
// expect: nothing
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/msg.h>
#include <sys/uio.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 100, PAGE = 4096 };
static int most[2], parts[2], stream[2], packet[2], spliced[2], queue;
static long by_most, by_parts, by_stream, by_packet, by_splice, by_queue;
static char page[PAGE] __attribute__((aligned(PAGE)));

struct message {
    long kind;
    char text[16];
};

static int empty(int fd, int bytes) {
    char got[PAGE];
    for (int left = bytes, n; left > 0; left -= n)
        if ((n = read(fd, got, left < PAGE ? left : PAGE)) <= 0) return 0;
    return 1;
}

static int round_trip(FILE *out) {
    static const char full[PAGE];
    if (write(most[1], full, 2500) != 2500) return 0;
    by_most++;
    if (!empty(most[0], 2500)) return 0;

    struct iovec halves[2] = {{page, PAGE / 2}, {page + PAGE / 2, PAGE / 2}};
    if (writev(parts[1], halves, 2) != PAGE) return 0;
    by_parts++;
    if (!empty(parts[0], PAGE)) return 0;

    if (fwrite(full, 1, PAGE, out) != PAGE) return 0;
    by_stream++;
    if (!empty(stream[0], PAGE)) return 0;

    if (write(packet[1], full, 1) != 1) return 0;
    by_packet++;
    if (!empty(packet[0], 1)) return 0;

    struct iovec whole = {page, PAGE};
    if (vmsplice(spliced[1], &whole, 1, 0) != PAGE) return 0;
    by_splice++;
    if (!empty(spliced[0], PAGE)) return 0;

    struct message message = {.kind = 1};
    if (msgsnd(queue, &message, sizeof message.text, 0) != 0) return 0;
    by_queue++;
    return msgrcv(queue, &message, sizeof message.text, 0, 0) == sizeof message.text;
}

static void *work(void *arg) {
    FILE *out = fdopen(dup(stream[1]), "w");
    setvbuf(out, 0, _IONBF, 0);
    for (int i = 0; i < ROUNDS; i++)
        if (!round_trip(out)) return 0;
    fclose(out);
    return arg;
}

static int of_one_page(int *ends, int flags) {
    return pipe2(ends, flags) == 0 && fcntl(ends[1], F_SETPIPE_SZ, PAGE) == PAGE;
}

int main(void) {
    int made = of_one_page(most, 0) && of_one_page(parts, 0) && of_one_page(stream, 0) &&
               of_one_page(packet, O_DIRECT) && of_one_page(spliced, 0);
    struct msqid_ds of_queue;
    queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
    if (!made || queue < 0 || msgctl(queue, IPC_STAT, &of_queue) != 0) return 1;
    of_queue.msg_qbytes = sizeof((struct message *)0)->text;
    if (msgctl(queue, IPC_SET, &of_queue) != 0) return 1;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    msgctl(queue, IPC_RMID, 0);
    return by_most == THREADS * ROUNDS && by_queue == by_most ? 0 : 1;
}
