// Package cosmos calls every operation of azcosmos that sends a request.
package cosmos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"armilla/conformance/server"
)

var (
	ctx     = context.Background()
	running *server.Server
	names   atomic.Int64
)

func TestMain(tests *testing.M) {
	os.Exit(server.Run(tests, func(started *server.Server) { running = started }, "--throttle", "off"))
}

// fresh returns a name that no other test uses.
func fresh(prefix string) string { return fmt.Sprintf("%s-%d", prefix, names.Add(1)) }

func ptr[T any](value T) *T { return &value }

// connect opens a client over https that trusts the server's own certificate.
func connect(t *testing.T, change func(*azcosmos.ClientOptions)) *azcosmos.Client {
	t.Helper()
	transport, err := running.Transport("")
	must(t, err)
	options := &azcosmos.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: transport}}
	if change != nil {
		change(options)
	}
	credential, err := azcosmos.NewKeyCredential(server.Key)
	must(t, err)
	client, err := azcosmos.NewClientWithKey(running.HTTPS, credential, options)
	must(t, err)
	t.Cleanup(client.Close)
	return client
}

// makeDatabase makes a database that is gone after the test.
func makeDatabase(t *testing.T, client *azcosmos.Client) *azcosmos.DatabaseClient {
	t.Helper()
	id := fresh("database")
	_, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: id}, nil)
	must(t, err)
	database, err := client.NewDatabase(id)
	must(t, err)
	t.Cleanup(func() { _, _ = database.Delete(ctx, nil) })
	return database
}

// makeContainer makes a container with the key /city, unless `change` wants another, in a database of its own.
func makeContainer(t *testing.T, change func(*azcosmos.ContainerProperties)) *azcosmos.ContainerClient {
	t.Helper()
	database := makeDatabase(t, connect(t, nil))
	properties := azcosmos.ContainerProperties{ID: fresh("container"), PartitionKeyDefinition: byCity}
	if change != nil {
		change(&properties)
	}
	_, err := database.CreateContainer(ctx, properties, nil)
	must(t, err)
	container, err := database.NewContainer(properties.ID)
	must(t, err)
	return container
}

var byCity = azcosmos.PartitionKeyDefinition{Paths: []string{"/city"}, Kind: azcosmos.PartitionKeyKindHash, Version: 2}

// item is what most tests store.
type item struct {
	ID      string  `json:"id"`
	City    string  `json:"city"`
	Number  float64 `json:"number"`
	Country string  `json:"country,omitempty"`
}

func (i item) key() azcosmos.PartitionKey { return azcosmos.NewPartitionKeyString(i.City) }

func encode(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	must(t, err)
	return text
}

func decode[T any](t *testing.T, text []byte) T {
	t.Helper()
	var value T
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return value
}

// fill stores items of three cities, numbered from 0.
func fill(t *testing.T, container *azcosmos.ContainerClient, count int) []item {
	t.Helper()
	var stored []item
	for number := range count {
		one := item{ID: fmt.Sprint("item ", number), City: []string{"Oslo", "Rome", "Bonn"}[number%3], Number: float64(number)}
		_, err := container.CreateItem(ctx, one.key(), encode(t, one), nil)
		must(t, err)
		stored = append(stored, one)
	}
	return stored
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

// refused expects the SDK to report this status; returns the error.
func refused(t *testing.T, err error, status int) *azcore.ResponseError {
	t.Helper()
	var response *azcore.ResponseError
	if !errors.As(err, &response) {
		t.Fatalf("status %d was expected, not %v", status, err)
	}
	equal(t, response.StatusCode, status, err)
	return response
}

// drain returns the pages of a list.
func drain[T any](t *testing.T, pager *runtime.Pager[T]) []T {
	t.Helper()
	var pages []T
	for pager.More() {
		page, err := pager.NextPage(ctx)
		must(t, err)
		pages = append(pages, page)
	}
	return pages
}
