// Package e2e has tests of the program as users meet it: its commands, its kernel behind
// sockets, and JupyterLab in a browser. They build the program once.
package e2e
