/* Writes down what a program does to the files below one folder, in order: writes with their bytes, truncations, syncs,
 * removals, renames and links. What a power cut leaves can be made of it: see power_cuts.py.
 *
 * cc -shared -fPIC -O1 -o power_cut.so power_cut.c -ldl
 * POWER_CUT_FOLDER=/… POWER_CUT_LOG=/… LD_PRELOAD=power_cut.so program
 *
 * A record: one byte for what was done, the length of the path and the path, two numbers, then the bytes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int out = -2;

static int journal(void) {
    if (out == -2) {
        const char *path = getenv("POWER_CUT_LOG");
        out = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    }
    return out;
}

static int below(const char *path) {
    const char *folder = getenv("POWER_CUT_FOLDER");
    return folder && strncmp(path, folder, strlen(folder)) == 0;
}

static int path_of(int fd, char *path, size_t size) {
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(name, path, size - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return below(path);
}

static ssize_t (*real_write)(int, const void *, size_t);

static void put(const void *data, size_t size) {
    if (!real_write) real_write = dlsym(RTLD_NEXT, "write");
    if (real_write(journal(), data, size) != (ssize_t)size) abort();
}

static void record(char what, const char *path, int64_t at, const void *data, int64_t size) {
    if (journal() < 0) return;
    uint32_t length = strlen(path);
    pthread_mutex_lock(&lock);
    put(&what, 1);
    put(&length, sizeof length);
    put(path, length);
    put(&at, sizeof at);
    put(&size, sizeof size);
    if (data && size) put(data, size);
    pthread_mutex_unlock(&lock);
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = dlsym(RTLD_NEXT, name)

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
    char path[4096];
    ssize_t done = real(fd, data, size, at);
    if (done > 0 && path_of(fd, path, sizeof path)) record('w', path, at, data, done);
    return done;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { return pwrite64(fd, data, size, at); }

ssize_t write(int fd, const void *data, size_t size) {
    if (!real_write) real_write = dlsym(RTLD_NEXT, "write");
    char path[4096];
    off_t at = lseek(fd, 0, SEEK_CUR);
    ssize_t done = real_write(fd, data, size);
    if (done > 0 && at >= 0 && path_of(fd, path, sizeof path)) record('w', path, at, data, done);
    return done;
}

int ftruncate64(int fd, off64_t size) {
    REAL(int, "ftruncate64", int, off64_t);
    char path[4096];
    int done = real(fd, size);
    if (done == 0 && path_of(fd, path, sizeof path)) record('t', path, size, NULL, 0);
    return done;
}

int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

static int synced(int fd, int done) {
    char path[4096];
    if (done == 0 && path_of(fd, path, sizeof path)) record('s', path, 0, NULL, 0);
    return done;
}

/* While the file POWER_CUT_FAIL exists, no sync succeeds: what a dying disk does. */
static int fails(int fd) {
    const char *sign = getenv("POWER_CUT_FAIL");
    char path[4096];
    if (!sign || access(sign, F_OK) != 0 || !path_of(fd, path, sizeof path)) return 0;
    errno = EIO;
    return 1;
}

int fsync(int fd) {
    REAL(int, "fsync", int);
    return fails(fd) ? -1 : synced(fd, real(fd));
}

int fdatasync(int fd) {
    REAL(int, "fdatasync", int);
    return fails(fd) ? -1 : synced(fd, real(fd));
}

int unlink(const char *path) {
    REAL(int, "unlink", const char *);
    int done = real(path);
    if (done == 0 && below(path)) record('u', path, 0, NULL, 0);
    return done;
}
