/* A program that loads libraries one after the other, calls one routine of each, and unloads it. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **words) {
    for (int i = 1; i < count; i++) {
        void *library = dlopen(words[i], RTLD_NOW | RTLD_LOCAL);
        if (!library) return puts(dlerror()), 8;
        ((void (*)(int))dlsym(library, "call"))(16);
        dlclose(library);
    }
    return 5;
}
