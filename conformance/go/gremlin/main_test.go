// Package gremlin is a tour of TinkerPop's driver for Go, which speaks GraphBinary alone: scripts, traversals, logins.
package gremlin

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	gremlingo "github.com/apache/tinkerpop/gremlin-go/v3/driver"

	"armilla/conformance/server"
)

const database = "graphs"

// modern is TinkerPop's graph of that name, in two partitions.
var modern = []string{
	"g.addV('person').property(id,'marko').property('pk','people').property('name','marko').property('age',29)",
	"g.addV('person').property(id,'vadas').property('pk','people').property('name','vadas').property('age',27)",
	"g.addV('person').property(id,'josh').property('pk','people').property('name','josh').property('age',32)",
	"g.addV('person').property(id,'peter').property('pk','people').property('name','peter').property('age',35)",
	"g.addV('software').property(id,'lop').property('pk','things').property('name','lop')",
	"g.addV('software').property(id,'ripple').property('pk','things').property('name','ripple')",
	"g.V('marko').addE('knows').to(g.V('vadas')).property(id,'e7').property('weight',0.5)",
	"g.V('marko').addE('knows').to(g.V('josh')).property(id,'e8').property('weight',1.0)",
	"g.V('marko').addE('created').to(g.V('lop')).property(id,'e9').property('weight',0.4)",
	"g.V('josh').addE('created').to(g.V('ripple')).property(id,'e10').property('weight',1.0)",
	"g.V('josh').addE('created').to(g.V('lop')).property(id,'e11').property('weight',0.4)",
	"g.V('peter').addE('created').to(g.V('lop')).property(id,'e12').property('weight',0.2)",
}

var (
	ctx     = context.Background()
	running *server.Server
	names   atomic.Int64
)

func TestMain(tests *testing.M) {
	os.Exit(server.Run(tests, func(started *server.Server) { running = started }, "--throttle", "off"))
}

// makeGraph makes a graph that is gone after the test, and gives the name that a login has for it.
func makeGraph(t *testing.T) string {
	t.Helper()
	transport, err := running.Transport("")
	must(t, err)
	credential, err := azcosmos.NewKeyCredential(server.Key)
	must(t, err)
	client, err := azcosmos.NewClientWithKey(running.HTTPS, credential,
		&azcosmos.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: transport}})
	must(t, err)
	t.Cleanup(client.Close)
	// Each test but the first finds it there.
	_, _ = client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: database}, nil)
	in, err := client.NewDatabase(database)
	must(t, err)
	id := fmt.Sprint("graph", names.Add(1))
	_, err = in.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID:                     id,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/pk"}, Version: 2},
	}, nil)
	must(t, err)
	t.Cleanup(func() {
		container, err := in.NewContainer(id)
		must(t, err)
		_, err = container.Delete(ctx, nil)
		must(t, err)
	})
	return "/dbs/" + database + "/colls/" + id
}

// trusting is what makes the driver trust the certificate that the server made for itself.
func trusting(t *testing.T) *tls.Config {
	t.Helper()
	certificate, err := os.ReadFile(running.Certificate())
	must(t, err)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(certificate) {
		t.Fatal("no certificate in the data folder")
	}
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// scripts opens a client for scripts over TLS; the changes are made to its settings.
func scripts(t *testing.T, graph, key string, changes ...func(*gremlingo.ClientSettings)) *gremlingo.Client {
	t.Helper()
	usual := func(settings *gremlingo.ClientSettings) {
		settings.AuthInfo = gremlingo.BasicAuthInfo(graph, key)
		settings.TlsConfig = trusting(t)
		settings.LogVerbosity = gremlingo.Off
	}
	changes = append([]func(*gremlingo.ClientSettings){usual}, changes...)
	client, err := gremlingo.NewClient("wss://"+running.Gremlin+"/gremlin", changes...)
	must(t, err)
	t.Cleanup(client.Close)
	return client
}

// traversals opens a connection for traversals over TLS.
func traversals(t *testing.T, graph string) *gremlingo.GraphTraversalSource {
	t.Helper()
	connection, err := gremlingo.NewDriverRemoteConnection("wss://"+running.Gremlin+"/gremlin",
		func(settings *gremlingo.DriverRemoteConnectionSettings) {
			settings.AuthInfo = gremlingo.BasicAuthInfo(graph, server.Key)
			settings.TlsConfig = trusting(t)
			settings.LogVerbosity = gremlingo.Off
		})
	must(t, err)
	t.Cleanup(connection.Close)
	return gremlingo.Traversal_().WithRemote(connection)
}

// makeModern makes the graph `modern`.
func makeModern(t *testing.T) string {
	t.Helper()
	graph := makeGraph(t)
	client := scripts(t, graph, server.Key)
	for _, script := range modern {
		run(t, client, script)
	}
	return graph
}

// values are the results of a script or of a traversal.
func values(t *testing.T, results []*gremlingo.Result, err error) []any {
	t.Helper()
	must(t, err)
	found := []any{}
	for _, result := range results {
		found = append(found, result.GetInterface())
	}
	return found
}

// run runs a script and gives all results.
func run(t *testing.T, client *gremlingo.Client, script string, bindings ...map[string]any) []any {
	t.Helper()
	results, err := client.Submit(script, bindings...)
	must(t, err)
	all, err := results.All()
	return values(t, all, err)
}

// list gives all results of a traversal.
func list(t *testing.T, traversal *gremlingo.GraphTraversal) []any {
	t.Helper()
	results, err := traversal.ToList()
	return values(t, results, err)
}

// sorted puts texts in order, for results that have none.
func sorted(found []any) []any {
	slices.SortFunc(found, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return found
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal(t *testing.T, got, want any, about ...any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%#v instead of %#v %v", got, want, fmt.Sprint(about...))
	}
}

// refused expects an error with this code and these texts. Of a code, the driver keeps the last eight bits.
func refused(t *testing.T, err error, code int, texts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("an error of code %d was expected", code)
	}
	for _, text := range append(texts, fmt.Sprintf("statusCode: %d", code%256)) {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q is not in: %v", text, err)
		}
	}
}

// failed is the error of a script.
func failed(client *gremlingo.Client, script string) error {
	results, err := client.Submit(script)
	if err != nil {
		return err
	}
	_, err = results.All()
	return err
}
