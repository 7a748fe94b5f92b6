package ranks

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/big"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// Variable is the environment variable that tells a process that it is a rank: the number of ranks, the
// addresses of the launcher, the fingerprint of its certificate and a token.
const Variable = "HALFNOTE_RANKS"

// invitation is the content of Variable.
type invitation struct {
	ranks       int
	addresses   string // of the launcher, separated by commas
	fingerprint string // SHA-256 of the launcher's certificate, in hexadecimal
	token       string
}

func (v invitation) String() string {
	return strings.Join([]string{strconv.Itoa(v.ranks), v.addresses, v.fingerprint, v.token}, " ")
}

func parseInvitation(s string) (v invitation, err error) {
	words := strings.Fields(s)
	if len(words) != 4 {
		return v, fmt.Errorf("ranks: %s has %d words, want 4: the launcher sets it", Variable, len(words))
	}
	v = invitation{addresses: words[1], fingerprint: words[2], token: words[3]}
	if v.ranks, err = strconv.Atoi(words[0]); err != nil || v.ranks < 1 {
		return v, fmt.Errorf("ranks: %s begins with %q, want the number of ranks", Variable, words[0])
	}
	return v, nil
}

// ownAddresses returns the names under which other machines may reach this one: the host name, and the addresses of its
// networks, because in Kubernetes the name of a pod is unknown to others.
func ownAddresses() (list []string) {
	if name, err := os.Hostname(); err == nil {
		list = append(list, name)
	}
	all, _ := net.InterfaceAddrs() // without it, the name is enough on most clusters
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			list = append(list, n.IP.String())
		}
	}
	return list
}

// withPort joins addresses with a port, separated by commas.
func withPort(hosts []string, port string) string {
	var list []string
	for _, host := range hosts {
		list = append(list, net.JoinHostPort(host, port))
	}
	return strings.Join(list, ",")
}

// newCertificate returns a certificate of this process alone, and its fingerprint.
func newCertificate() (tls.Certificate, string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, "", err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().AddDate(10, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, "", err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, fingerprint(der), nil
}

func fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// trusting returns a configuration that accepts only the certificate with the fingerprint.
func trusting(want string) *tls.Config {
	return &tls.Config{
		InsecureSkipVerify: true, // the fingerprint takes the place of names and authorities
		VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error {
			if len(raw) != 1 || !bytes.Equal([]byte(fingerprint(raw[0])), []byte(want)) {
				return errors.New("it is not the launcher of this rank: the certificate differs")
			}
			return nil
		},
		MinVersion: tls.VersionTLS13,
	}
}

// programOf returns a fingerprint of a program's file.
func programOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	n, err := io.Copy(h, f)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d bytes, CRC %08x", n, h.Sum32()), nil
}
