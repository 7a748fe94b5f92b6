// The table of the driver's functions, and the jump through a table entry: 6 bytes of code that
// touch no argument, so that one form fits all prototypes.

#pragma GCC visibility push(hidden)
extern void *link_slot[];
extern const int link_count;
extern const char *const link_name[];
int link_unbound(void);
#pragma GCC visibility pop

#if defined(__x86_64__)
#define JUMP(name, i)                                                  \
	__asm__(".text\n.globl " #name "\n.hidden " #name "\n"         \
		".type " #name ",@function\n" #name ":\n"              \
		"\tjmp *link_slot+8*" #i "(%rip)\n"                    \
		".size " #name ",.-" #name "\n");
#elif defined(__aarch64__)
#define JUMP(name, i)                                                  \
	__asm__(".text\n.globl " #name "\n.hidden " #name "\n"         \
		".type " #name ",%function\n" #name ":\n"              \
		"\tadrp x16, link_slot+8*" #i "\n"                     \
		"\tldr x16, [x16, #:lo12:link_slot+8*" #i "]\n"        \
		"\tbr x16\n.size " #name ",.-" #name "\n");
#else
#error "the NVIDIA driver is supported on amd64 and arm64 only"
#endif
