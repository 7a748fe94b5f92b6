// Package release names the release of the sources.
package release

// Version is the release. The program prints it, and it goes into kernelspecs, kernel_info and wheels.
const Version = "0.2.0"
