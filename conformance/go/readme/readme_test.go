// Package readme runs the README's Go snippets as they are printed, each as a program of its own; only the port is
// another, and the scheme where the README says that it may be.
package readme

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"armilla/conformance/server"
)

const (
	// The first build compiles the SDK as well.
	buildMax = 5 * time.Minute
	runMax   = time.Minute
	// Where the README says that the server listens.
	printed = "http://localhost:8081/"
)

var fence = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

func TestAnItemIsWrittenAndRead(t *testing.T) {
	found := snippets(t)
	if len(found) != 1 {
		t.Fatalf("%d Go snippets in the README; one is expected here", len(found))
	}
	running, err := server.Start()
	must(t, err)
	t.Cleanup(func() { must(t, running.Stop()) })
	address, err := url.Parse(running.HTTPS)
	must(t, err)

	t.Run("http", func(t *testing.T) {
		address := *address
		address.Scheme = "http"
		runTwice(t, build(t, found[0], address.String()))
	})
	t.Run("https", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("SSL_CERT_FILE counts on Linux")
		}
		program := build(t, found[0], address.String())
		if text, err := run(t, program); err == nil {
			t.Fatalf("a certificate was trusted that the program was not given: %s", text)
		}
		runTwice(t, program, "SSL_CERT_FILE="+running.Certificate())
	})
}

// snippets are the README's blocks of Go.
func snippets(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(module(), "..", "..", "README.md"))
	must(t, err)
	var found []string
	for _, match := range fence.FindAllStringSubmatch(string(text), -1) {
		found = append(found, match[1])
	}
	return found
}

// module is the folder of go.mod, from where imports are looked up.
func module() string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(here))
}

// build compiles a snippet that connects to this address, and returns the program.
func build(t *testing.T, snippet, address string) string {
	t.Helper()
	if strings.Count(snippet, printed) != 1 {
		t.Fatalf("the snippet does not connect to %s", printed)
	}
	folder := t.TempDir()
	source := filepath.Join(folder, "main.go")
	must(t, os.WriteFile(source, []byte(strings.Replace(snippet, printed, address, 1)), 0o600))
	program := filepath.Join(folder, "snippet")
	ctx, cancel := context.WithTimeout(context.Background(), buildMax)
	defer cancel()
	compile := exec.CommandContext(ctx, "go", "build", "-o", program, source)
	compile.Dir = module()
	if complaints, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, complaints)
	}
	return program
}

// run runs a program with the key in its environment; returns what it prints, or complaints with the error.
func run(t *testing.T, program string, environment ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), runMax)
	defer cancel()
	command := exec.CommandContext(ctx, program)
	command.Env = append(append(os.Environ(), "COSMOS_KEY="+server.Key), environment...)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	text, err := command.Output()
	if err != nil {
		return complaints.String(), err
	}
	return string(text), nil
}

// runTwice expects the item to be printed each time, since a reader who likes it does it again.
func runTwice(t *testing.T, program string, environment ...string) {
	t.Helper()
	for range 2 {
		text, err := run(t, program, environment...)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		var item map[string]any
		if err := json.Unmarshal([]byte(text), &item); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if item["id"] != "reading-1" || item["deviceId"] != "pump-7" || item["celsius"] != 41.5 || item["_etag"] == nil {
			t.Fatalf("not the item that was written: %s", text)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
