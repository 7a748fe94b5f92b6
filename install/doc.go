// Package install puts halfnote where Jupyter finds it: [Install] writes a
// kernelspec, [Lab] makes a private JupyterLab and runs it, [Doctor] tells what
// of all this works on a machine.
//
// It knows Jupyter's folders, Python's virtual environments and the kernelspec's
// format; it knows nothing of what the kernel does. It needs the standard
// library only, and Python only for Lab.
package install
