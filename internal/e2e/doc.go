// Package e2e tests the whole program as users run it: its commands, its kernel over
// sockets, and JupyterLab in a browser. The tests build the program only once.
package e2e
