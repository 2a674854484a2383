// Package tables calls every operation of aztables that sends a request, but with tokens of Entra ID.
package tables

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"armilla/conformance/server"
)

const (
	// The SDK tells Cosmos DB by this part of the host, or by localhost with port 8902, and tunnels merges through POST.
	cosmosHost = "armilla.table.cosmos.azure.com"
)

var (
	ctx     = context.Background()
	running *server.Server
	names   atomic.Int64
)

func TestMain(tests *testing.M) {
	os.Exit(server.Run(tests, func(started *server.Server) { running = started }, "--throttle", "off", "--tls-name", cosmosHost))
}

// A door is one way to address the tables.
type door struct {
	name    string
	account string
	url     string
	to      string
}

// doors are the SDK's two dialects: by address it speaks as to a storage account, by host as to Cosmos DB.
func doors(t *testing.T) []door {
	t.Helper()
	address, err := url.Parse(running.Tables)
	must(t, err)
	return []door{
		{name: "address", account: "localhost", url: running.Tables},
		{name: "cosmos", account: "armilla", url: "https://" + cosmosHost + "/", to: address.Host},
	}
}

func options(t *testing.T, d door) *aztables.ClientOptions {
	t.Helper()
	transport, err := running.Transport(d.to)
	must(t, err)
	return &aztables.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: transport}}
}

func credential(t *testing.T, d door) *aztables.SharedKeyCredential {
	t.Helper()
	made, err := aztables.NewSharedKeyCredential(d.account, server.Key)
	must(t, err)
	return made
}

func service(t *testing.T, d door) *aztables.ServiceClient {
	t.Helper()
	client, err := aztables.NewServiceClientWithSharedKey(d.url, credential(t, d), options(t, d))
	must(t, err)
	return client
}

// eachDoor runs a test through every door.
func eachDoor(t *testing.T, test func(*testing.T, door)) {
	for _, d := range doors(t) {
		t.Run(d.name, func(t *testing.T) { test(t, d) })
	}
}

func freshName() string { return fmt.Sprint("table", names.Add(1)) }

// makeTable makes a table that is gone after the test.
func makeTable(t *testing.T, d door) *aztables.Client {
	t.Helper()
	client := service(t, d)
	name := freshName()
	_, err := client.CreateTable(ctx, name, nil)
	must(t, err)
	t.Cleanup(func() { _, _ = client.DeleteTable(ctx, name, nil) })
	return client.NewClient(name)
}

func ptr[T any](value T) *T { return &value }

func entity(partition, row string, properties map[string]any) []byte {
	text, err := json.Marshal(aztables.EDMEntity{
		Entity: aztables.Entity{PartitionKey: partition, RowKey: row}, Properties: properties,
	})
	if err != nil {
		panic(err)
	}
	return text
}

func decode(t *testing.T, text []byte) aztables.EDMEntity {
	t.Helper()
	var found aztables.EDMEntity
	if err := json.Unmarshal(text, &found); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return found
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

// refused expects this status, and a code with this beginning; returns the error.
func refused(t *testing.T, err error, status int, code aztables.TableErrorCode) *azcore.ResponseError {
	t.Helper()
	var response *azcore.ResponseError
	if !errors.As(err, &response) {
		t.Fatalf("status %d was expected, not %v", status, err)
	}
	equal(t, response.StatusCode, status, err)
	if !strings.HasPrefix(response.ErrorCode, string(code)) {
		t.Errorf("%s instead of %s", response.ErrorCode, code)
	}
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

// rows are the row keys of what a list finds, in the order of the answer.
func rows(t *testing.T, table *aztables.Client, wanted *aztables.ListEntitiesOptions) []string {
	t.Helper()
	var found []string
	for _, page := range drain(t, table.NewListEntitiesPager(wanted)) {
		for _, text := range page.Entities {
			found = append(found, decode(t, text).RowKey)
		}
	}
	return found
}
