// Driver calls that gorgonia.org/cu lacks. The prototypes are declared here, without cuda.h. Each
// call first makes ctx current, because a goroutine may run on any thread, and returns a
// CUresult.

#include <stddef.h>
#include <stdint.h>

enum { LINK_PARAMS = 64 }; // maximum number of launch parameters

int link_load(const char *path, char *message, int size);
int link_launch(uintptr_t ctx, uintptr_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                unsigned bz, unsigned shared, uintptr_t stream, char *params, uint16_t *offset, int n);
int link_begin_capture(uintptr_t ctx, uintptr_t stream);
int link_end_capture(uintptr_t ctx, uintptr_t stream, uintptr_t *exec);
int link_graph_launch(uintptr_t ctx, uintptr_t exec, uintptr_t stream);
int link_graph_free(uintptr_t ctx, uintptr_t exec);
int link_host_alloc(uintptr_t ctx, size_t n, uintptr_t *p);
int link_host_free(uintptr_t ctx, uintptr_t p);
int link_function_set(uintptr_t ctx, uintptr_t f, int attribute, int value);
int link_module_load(uintptr_t ctx, const char *text, uintptr_t *module, char *log, unsigned size);
const char *link_error_name(int code);
const char *link_error_text(int code);
