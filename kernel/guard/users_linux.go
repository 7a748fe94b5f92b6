package guard

import (
	"encoding/binary"
	"encoding/hex"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
)

// localUsers returns the users of this machine's TCP connections, plus 1, from proc(5): net/tcp.
func localUsers() map[endpoints]int {
	users := map[endpoints]int{}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, _ := os.ReadFile(file)
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) < 8 {
				continue
			}
			user, err := strconv.Atoi(f[7])
			if err != nil { // the heads of the columns
				continue
			}
			users[endpoints{procAddress(f[1]), procAddress(f[2])}] = user + 1
		}
	}
	return users
}

// procAddress returns an address of proc(5), whose words of four bytes are in the processor's order, as package net writes it.
func procAddress(text string) string {
	host, port, _ := strings.Cut(text, ":")
	b, err := hex.DecodeString(host)
	n, errPort := strconv.ParseUint(port, 16, 16)
	if err != nil || errPort != nil || len(b)%4 != 0 {
		return ""
	}
	for word := range slices.Chunk(b, 4) {
		binary.NativeEndian.PutUint32(word, binary.BigEndian.Uint32(word))
	}
	return (&net.TCPAddr{IP: net.IP(b), Port: int(n)}).String()
}
