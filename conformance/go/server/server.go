// Package server starts and stops the server under test, and reads what it logs.
//
// The binary comes from ARMILLA_BIN, or is the debug build of this repository. Standard error goes to a file, so a
// line the server wrote before it answered is there when the answer is.
package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Key is the well-known key of the emulators.
const Key = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

const (
	readyMax = 30 * time.Second
	stopMax  = 30 * time.Second
)

var (
	address   = regexp.MustCompile(`[^/]+:\d+`)
	pair      = regexp.MustCompile(`(\w+)=(\S+)`)
	complaint = regexp.MustCompile(`(?i)^(?:\S+\s+)?(?:WARN|ERROR)\b|^thread .* panicked at`)
)

// Server is one server process on free ports, with its data folder and its log.
type Server struct {
	// HTTPS is the endpoint that an application is given.
	HTTPS string
	// Tables is the Table endpoint in the flavour of Cosmos DB.
	Tables string
	// Mongo is the address of the MongoDB API, host and port.
	Mongo string
	// Gremlin is the address of the Gremlin API, host and port.
	Gremlin string

	folder  string
	process *exec.Cmd
}

func binary() string {
	if named := os.Getenv("ARMILLA_BIN"); named != "" {
		return named
	}
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "..", "..", "target", "debug", "armilla")
}

// Start starts the process and waits for its ready line.
func Start(flags ...string) (*Server, error) {
	folder, err := os.MkdirTemp("", "armilla-go-")
	if err != nil {
		return nil, err
	}
	server := &Server{folder: folder}
	log, err := os.Create(server.logFile())
	if err != nil {
		return nil, err
	}
	defer log.Close()
	server.process = exec.Command(binary(), append([]string{"--port", "0", "--data-dir", server.dataFolder()}, flags...)...)
	server.process.Env = append(os.Environ(), "NO_COLOR=1", "ARMILLA_MONGO_PORT=0")
	server.process.Stderr = log
	output, err := server.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := server.process.Start(); err != nil {
		return nil, err
	}
	ready := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(output)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "armilla ready:") {
				ready <- lines.Text()
			}
		}
		close(ready)
	}()
	select {
	case line := <-ready:
		for _, found := range pair.FindAllStringSubmatch(line, -1) {
			switch found[1] {
			case "sql":
				server.HTTPS = found[2]
			case "table":
				server.Tables = found[2]
			case "mongo":
				server.Mongo = address.FindString(found[2])
			case "gremlin":
				server.Gremlin = address.FindString(found[2])
			}
		}
	case <-time.After(readyMax):
	}
	if server.HTTPS == "" {
		_ = server.process.Process.Kill()
		return nil, fmt.Errorf("no ready line; stderr: %s", server.logText())
	}
	return server, nil
}

// Run runs the tests of a package against a server of their own and returns the exit code.
func Run(tests *testing.M, keep func(*Server), flags ...string) int {
	server, err := Start(flags...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	keep(server)
	code := tests.Run()
	if err := server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func (s *Server) dataFolder() string { return filepath.Join(s.folder, "data") }
func (s *Server) logFile() string    { return filepath.Join(s.folder, "stderr.log") }

// Certificate is the file of the certificate that the server made for itself.
func (s *Server) Certificate() string { return filepath.Join(s.dataFolder(), "tls", "cert.pem") }

func (s *Server) logText() string {
	text, _ := os.ReadFile(s.logFile())
	return string(text)
}

// Transport trusts the certificate that the server made for itself, and takes every connection to its port at `to`,
// whatever host the request names; an empty `to` leaves addresses alone.
func (s *Server) Transport(to string) (*http.Client, error) {
	certificate, err := os.ReadFile(s.Certificate())
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(certificate) {
		return nil, fmt.Errorf("no certificate in the data folder")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	if to != "" {
		transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, to)
		}
	}
	return &http.Client{Transport: transport}, nil
}

// Complaints are the warnings, errors and panics logged so far.
func (s *Server) Complaints() []string {
	var found []string
	for _, line := range strings.Split(s.logText(), "\n") {
		if complaint.MatchString(line) {
			found = append(found, line)
		}
	}
	return found
}

// Stop ends the process; it must end well, and have complained about nothing.
func (s *Server) Stop() error {
	defer os.RemoveAll(s.folder)
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- s.process.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("SIGTERM ended the server with %w", err)
		}
	case <-time.After(stopMax):
		_ = s.process.Process.Kill()
		return fmt.Errorf("still running %s after SIGTERM", stopMax)
	}
	if complaints := s.Complaints(); len(complaints) > 0 {
		return fmt.Errorf("the server logged warnings or errors:\n%s", strings.Join(complaints, "\n"))
	}
	return nil
}
