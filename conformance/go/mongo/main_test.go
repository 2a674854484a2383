// Package mongo is a tour of the MongoDB driver for Go: connecting, documents, pipelines, indexes, sessions, streams.
package mongo

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"armilla/conformance/server"
)

const account = "localhost"

var (
	ctx     = context.Background()
	running *server.Server
	names   atomic.Int64
)

func TestMain(tests *testing.M) {
	os.Exit(server.Run(tests, func(started *server.Server) { running = started }, "--throttle", "off"))
}

// connect opens a client over TLS with the account's name and key; the query adds to the connection string.
func connect(t *testing.T, key, query string) *mongo.Client {
	t.Helper()
	text := fmt.Sprintf("mongodb://%s:%s@%s/?tls=true&tlsCAFile=%s&serverSelectionTimeoutMS=10000%s",
		account, url.QueryEscape(key), running.Mongo, url.QueryEscape(running.Certificate()), query)
	client, err := mongo.Connect(options.Client().ApplyURI(text))
	must(t, err)
	t.Cleanup(func() { must(t, client.Disconnect(ctx)) })
	return client
}

// fresh is a collection that does not exist yet, and is gone after the test.
func fresh(t *testing.T) *mongo.Collection {
	t.Helper()
	client := connect(t, server.Key, "")
	collection := client.Database("conformance").Collection(fmt.Sprint("collection", names.Add(1)))
	t.Cleanup(func() { must(t, collection.Drop(ctx)) })
	return collection
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t *testing.T, got, want T, about ...any) {
	t.Helper()
	if got != want {
		t.Errorf("%v instead of %v %v", got, want, fmt.Sprint(about...))
	}
}

// refused expects an error of the server with one of these codes.
func refused(t *testing.T, err error, codes ...int) {
	t.Helper()
	var found mongo.ServerError
	if !errors.As(err, &found) {
		t.Fatalf("an error of the server was expected, not %v", err)
	}
	if !slices.ContainsFunc(codes, found.HasErrorCode) {
		t.Errorf("%v instead of %v", err, codes)
	}
}

// all are the documents that a cursor gives.
func all(t *testing.T, cursor *mongo.Cursor, err error) []bson.M {
	t.Helper()
	must(t, err)
	var found []bson.M
	must(t, cursor.All(ctx, &found))
	return found
}

// within is a context for what must not last.
func within(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	bounded, cancel := context.WithTimeout(ctx, limit)
	t.Cleanup(cancel)
	return bounded
}
