package gremlin

import (
	"crypto/tls"
	"testing"

	gremlingo "github.com/apache/tinkerpop/gremlin-go/v3/driver"

	"armilla/conformance/server"
)

func TestAWrongKeyIsRefused(t *testing.T) {
	err := failed(scripts(t, makeGraph(t), "d3Jvbmc="), "g.V().count()")
	refused(t, err, 401, "Unauthorized: Invalid credentials provided")
}

func TestGraphsThatAreNotThere(t *testing.T) {
	for _, graph := range []string{"/dbs/" + database + "/colls/nowhere", "/dbs/nowhere/colls/g"} {
		refused(t, failed(scripts(t, graph, server.Key), "g.V().count()"), 500, "Owner resource does not exist")
	}
}

func TestACertificateThatIsNotTrusted(t *testing.T) {
	_, err := gremlingo.NewClient("wss://"+running.Gremlin+"/gremlin", func(settings *gremlingo.ClientSettings) {
		settings.TlsConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		settings.LogVerbosity = gremlingo.Off
	})
	if err == nil {
		t.Error("a certificate that nothing vouches for was trusted")
	}
}

func TestWithoutTLS(t *testing.T) {
	graph := makeGraph(t)
	client, err := gremlingo.NewClient("ws://"+running.Gremlin+"/", func(settings *gremlingo.ClientSettings) {
		settings.AuthInfo = gremlingo.BasicAuthInfo(graph, server.Key)
		settings.LogVerbosity = gremlingo.Off
	})
	must(t, err)
	defer client.Close()
	equal(t, run(t, client, "g.inject('a')"), []any{"a"})
}

func TestCompressionIsDeclined(t *testing.T) {
	client := scripts(t, makeGraph(t), server.Key, func(settings *gremlingo.ClientSettings) {
		settings.EnableCompression = true
	})
	equal(t, run(t, client, "g.inject('a')"), []any{"a"})
}
