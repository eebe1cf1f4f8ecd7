// Wine 8 has no bcryptprimitives.dll, from which Go has its random numbers. This one asks advapi32, as Windows did before.
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T length) {
  for (; length > 0x40000000; buffer += 0x40000000, length -= 0x40000000)
    if (!SystemFunction036(buffer, 0x40000000)) return FALSE;
  return SystemFunction036(buffer, (ULONG)length);
}
