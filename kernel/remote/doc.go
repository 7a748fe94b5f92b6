// Package remote starts a kernel for a server on another machine that runs
// gateway_provisioners (https://gateway-provisioners.readthedocs.io): over ssh, in a
// container or in a cluster.
//
// Such a server cannot write a connection file. It gives the kernel a response address and a
// public key. The kernel chooses its keys and ports, encrypts them for the server, and sends
// them to the address. The signals that a local kernel would get arrive at a further port,
// the communication port, as JSON.
//
// By the server's protocol the communication port has neither keys nor encryption: a process
// that reaches it can interrupt and end the kernel. It cannot run code.
package remote
