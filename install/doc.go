// Package install puts halfnote where Jupyter finds it: [Install] writes a
// kernelspec, [Lab] makes and runs a private JupyterLab, [CopyTutorials] copies the
// tutorials for the user, [NBGrader] configures nbgrader, and [Doctor] reports what works on a machine.
//
// It covers Jupyter's folders, Python's virtual environments and the kernelspec's
// format; it does not depend on what the kernel does. Only Lab and Peers need Python.
package install
