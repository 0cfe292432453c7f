// expect: nothing
// Functions of the C library that keep something from call to call: in main alone, and under a lock.
#define _GNU_SOURCE
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *file;

static long use(void)
{
    time_t now = 86400;
    char word[] = "a,b", line[16];
    long sum = 0;
    setenv("RADDLE_STATE", "1", 1);
    sum += getenv("RADDLE_STATE") != NULL;
    unsetenv("RADDLE_STATE");
    srand(1), srandom(1), srand48(1);
    sum += rand() + random() + lrand48() + mrand48() + (long)drand48();
    sum += gmtime(&now)->tm_year + localtime(&now)->tm_mday + strlen(ctime(&now));
    sum += strlen(asctime(gmtime(&now))) + strlen(strtok(word, ","));
    sum += getpwuid(0) != NULL, sum += getgrgid(0) != NULL;
    fputs("line\n", file), rewind(file);
    sum += fgets(line, sizeof line, file) != NULL, ungetc('x', file), sum += fgetc(file);
    fseek(file, 0, SEEK_SET), sum += ftell(file) + feof(file) + ferror(file), clearerr(file);
    return sum + lseek(fileno(file), 0, SEEK_CUR) + strlen(strerror(2));
}

static void *work(void *arg)
{
    pthread_mutex_lock(&lock);
    *(long *)arg = use();
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    long first, sums[2];
    pthread_t threads[2];
    file = tmpfile();
    first = use();
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, &sums[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    fclose(file);
    return first == 0;
}
