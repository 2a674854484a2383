package cosmos

import (
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

func TestBatch(t *testing.T) {
	container := makeContainer(t, nil)
	key := azcosmos.NewPartitionKeyString("Oslo")
	for _, id := range []string{"replaced", "patched", "deleted"} {
		_, err := container.CreateItem(ctx, key, encode(t, item{ID: id, City: "Oslo", Number: 1}), nil)
		must(t, err)
	}
	var patch azcosmos.PatchOperations
	patch.AppendIncrement("/number", 1)
	batch := container.NewTransactionalBatch(key)
	batch.CreateItem(encode(t, item{ID: "created", City: "Oslo"}), nil)
	batch.ReadItem("created", nil)
	batch.ReplaceItem("replaced", encode(t, item{ID: "replaced", City: "Oslo", Number: 5}), nil)
	batch.UpsertItem(encode(t, item{ID: "upserted", City: "Oslo"}), nil)
	batch.PatchItem("patched", patch, nil)
	batch.DeleteItem("deleted", nil)
	done, err := container.ExecuteTransactionalBatch(ctx, batch, &azcosmos.TransactionalBatchOptions{
		EnableContentResponseOnWrite: true,
	})
	must(t, err)
	equal(t, done.Success, true)
	if done.SessionToken == "" || done.RequestCharge <= 0 {
		t.Errorf("%+v", done.Response)
	}
	for at, status := range []int32{201, 200, 200, 201, 200, 204} {
		equal(t, done.OperationResults[at].StatusCode, status, "operation ", at)
	}
	equal(t, decode[item](t, done.OperationResults[1].ResourceBody).ID, "created")
	equal(t, decode[item](t, done.OperationResults[4].ResourceBody).Number, 2)
	if done.OperationResults[0].ETag == "" {
		t.Error("an operation has an etag")
	}
}

func TestFailedBatchLeavesNothing(t *testing.T) {
	container := makeContainer(t, nil)
	key := azcosmos.NewPartitionKeyString("Oslo")
	_, err := container.CreateItem(ctx, key, encode(t, item{ID: "there", City: "Oslo"}), nil)
	must(t, err)
	batch := container.NewTransactionalBatch(key)
	batch.CreateItem(encode(t, item{ID: "new", City: "Oslo"}), nil)
	batch.ReplaceItem("there", encode(t, item{ID: "there", City: "Oslo", Number: 1}),
		&azcosmos.TransactionalBatchItemOptions{IfMatchETag: ptr(azcore.ETag(`"stale"`))})
	batch.DeleteItem("there", nil)
	done, err := container.ExecuteTransactionalBatch(ctx, batch, nil)
	must(t, err)
	equal(t, done.Success, false)
	for at, status := range []int32{http.StatusFailedDependency, http.StatusPreconditionFailed, http.StatusFailedDependency} {
		equal(t, done.OperationResults[at].StatusCode, status, "operation ", at)
	}
	_, err = container.ReadItem(ctx, key, "new", nil)
	refused(t, err, http.StatusNotFound)
}
