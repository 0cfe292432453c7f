// Data handed on through ends that the program did not get from `pipe`: a duplicate by fcntl, a named pipe, one that came through a
// socket, a FILE; and through what the kernel keeps elsewhere: System V messages and semaphores, a signalfd, splice, several messages at
// once. Each orders what it hands on. Silent in every mode.
// expect: nothing
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHECK(x) do { if (!(x)) abort(); } while (0)

struct mail {
    long kind;
    char text[8];
};

int by_fcntl, by_name, by_file, by_socket, by_message, by_semaphore, by_signal, by_splice, by_many;
int end, ends[2], others[2], pair[2], queue, semaphores;
char name[40];
FILE *in;

static void take(int fd) {
    char c;
    CHECK(read(fd, &c, 1) == 1);
}

static void *through_fcntl(void *arg) {
    take(end);
    by_fcntl++;
    return arg;
}

static void *through_name(void *arg) {
    int fd = open(name, O_RDONLY);
    take(fd);
    by_name++;
    close(fd);
    return arg;
}

static void *through_file(void *arg) {
    char line[20];
    CHECK(fgets(line, sizeof line, in));
    by_file++;
    return arg;
}

static void *through_socket(void *arg) {
    char c, room[CMSG_SPACE(sizeof(int))];
    struct iovec part = {&c, 1};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    CHECK(recvmsg(pair[0], &m, 0) == 1);
    int fd;
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
    take(fd);
    by_socket++;
    close(fd);
    return arg;
}

static void *through_message(void *arg) {
    struct mail mail;
    CHECK(msgrcv(queue, &mail, sizeof mail.text, 0, 0) >= 0);
    by_message++;
    return arg;
}

static void *through_semaphore(void *arg) {
    struct sembuf down = {0, -1, 0};
    CHECK(semop(semaphores, &down, 1) == 0);
    by_semaphore++;
    return arg;
}

static void *through_signal(void *arg) {
    struct signalfd_siginfo info;
    CHECK(read(end, &info, sizeof info) == sizeof info);
    by_signal++;
    return arg;
}

static void *through_splice(void *arg) {
    take(others[0]);
    by_splice++;
    return arg;
}

static void *through_many(void *arg) {
    char c;
    struct iovec part = {&c, 1};
    struct mmsghdr m = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};
    CHECK(recvmmsg(pair[0], &m, 1, 0, 0) == 1);
    by_many++;
    return arg;
}

static pthread_t begin(void *(*f)(void *)) {
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    return t;
}

static void pass_on(int fd) {
    char c = 'x', room[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {&c, 1};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *h = CMSG_FIRSTHDR(&m);
    h->cmsg_level = SOL_SOCKET;
    h->cmsg_type = SCM_RIGHTS;
    h->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(h), &fd, sizeof fd);
    CHECK(sendmsg(pair[1], &m, 0) == 1);
}

static void pipes(void) {
    CHECK(pipe(ends) == 0);
    end = fcntl(ends[0], F_DUPFD_CLOEXEC, 20);
    pthread_t t = begin(through_fcntl);
    by_fcntl = 1;
    CHECK(write(ends[1], "x", 1) == 1);
    pthread_join(t, 0);

    snprintf(name, sizeof name, "/tmp/fifo-%d", getpid());
    CHECK(mkfifo(name, 0600) == 0);
    t = begin(through_name);
    by_name = 1;
    int fd = open(name, O_WRONLY);
    CHECK(write(fd, "x", 1) == 1);
    pthread_join(t, 0);
    close(fd);
    unlink(name);

    CHECK(pipe(ends) == 0);
    in = fdopen(ends[0], "r");
    FILE *out = fdopen(ends[1], "w");
    t = begin(through_file);
    by_file = 1;
    fprintf(out, "line %d\n", 1);
    fflush(out);
    pthread_join(t, 0);
    fclose(out);
    fclose(in);

    CHECK(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    t = begin(through_socket);
    pass_on(ends[0]);
    by_socket = 1;
    CHECK(write(ends[1], "x", 1) == 1);
    pthread_join(t, 0);

    CHECK(pipe(ends) == 0 && pipe(others) == 0);
    t = begin(through_splice);
    by_splice = 1;
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(splice(ends[0], 0, others[1], 0, 1, 0) == 1);
    pthread_join(t, 0);
}

static void elsewhere(void) {
    queue = msgget(IPC_PRIVATE, 0600);
    pthread_t t = begin(through_message);
    by_message = 1;
    struct mail mail = {1, "x"};
    CHECK(msgsnd(queue, &mail, sizeof mail.text, 0) == 0);
    pthread_join(t, 0);
    msgctl(queue, IPC_RMID, 0);

    semaphores = semget(IPC_PRIVATE, 1, 0600);
    t = begin(through_semaphore);
    by_semaphore = 1;
    struct sembuf up = {0, 1, 0};
    CHECK(semop(semaphores, &up, 1) == 0);
    pthread_join(t, 0);
    semctl(semaphores, 0, IPC_RMID);

    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    end = signalfd(-1, &set, 0);
    t = begin(through_signal);
    by_signal = 1;
    kill(getpid(), SIGUSR1);
    pthread_join(t, 0);

    CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
    t = begin(through_many);
    by_many = 1;
    struct iovec part = {"x", 1};
    struct mmsghdr m = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};
    CHECK(sendmmsg(pair[1], &m, 1, 0) == 1);
    pthread_join(t, 0);
}

int main(void) {
    pipes();
    elsewhere();
    return by_fcntl + by_name + by_file + by_socket + by_message + by_semaphore + by_signal + by_splice + by_many != 18;
}
