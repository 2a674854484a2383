package cosmos

import (
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

func TestPatch(t *testing.T) {
	container := makeContainer(t, nil)
	key := azcosmos.NewPartitionKeyString("Oslo")
	_, err := container.CreateItem(ctx, key, encode(t, map[string]any{
		"id": "1", "city": "Oslo", "count": 1, "gone": true, "old": "a", "list": []int{1},
	}), nil)
	must(t, err)
	var operations azcosmos.PatchOperations
	operations.AppendAdd("/added", "x")
	operations.AppendAdd("/list/-", 2)
	operations.AppendIncrement("/count", 41)
	operations.AppendRemove("/gone")
	operations.AppendReplace("/old", "b")
	operations.AppendSet("/set", map[string]any{"deep": 1})
	operations.SetCondition("FROM c WHERE c.count = 1")
	patched, err := container.PatchItem(ctx, key, "1", operations, withContent)
	must(t, err)
	equal(t, patched.RawResponse.StatusCode, http.StatusOK)
	found := decode[map[string]any](t, patched.Value)
	equal(t, found["added"], any("x"))
	equal(t, found["count"], any(42.0))
	equal(t, found["old"], any("b"))
	equal(t, len(found["list"].([]any)), 2)
	_, there := found["gone"]
	equal(t, there, false)

	// The condition no longer holds.
	_, err = container.PatchItem(ctx, key, "1", operations, nil)
	refused(t, err, http.StatusPreconditionFailed)
	var missing azcosmos.PatchOperations
	missing.AppendReplace("/nowhere", 1)
	_, err = container.PatchItem(ctx, key, "1", missing, nil)
	refused(t, err, http.StatusBadRequest)
}
