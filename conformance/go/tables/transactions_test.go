package tables

import (
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func TestTransactions(t *testing.T) {
	eachDoor(t, func(t *testing.T, d door) {
		table := makeTable(t, d)
		for _, row := range []string{"merged", "replaced", "deleted"} {
			_, err := table.AddEntity(ctx, entity("ann", row, map[string]any{"old": 1}), nil)
			must(t, err)
		}
		actions := []aztables.TransactionAction{}
		for _, one := range []struct {
			kind aztables.TransactionType
			row  string
		}{
			{aztables.TransactionTypeAdd, "added"},
			{aztables.TransactionTypeUpdateMerge, "merged"},
			{aztables.TransactionTypeUpdateReplace, "replaced"},
			{aztables.TransactionTypeInsertMerge, "inserted 1"},
			{aztables.TransactionTypeInsertReplace, "inserted 2"},
			{aztables.TransactionTypeDelete, "deleted"},
		} {
			action := aztables.TransactionAction{ActionType: one.kind, Entity: entity("ann", one.row, map[string]any{"new": 2})}
			if one.kind == aztables.TransactionTypeUpdateMerge {
				action.IfMatch = ptr(azcore.ETagAny)
			}
			actions = append(actions, action)
		}
		_, err := table.SubmitTransaction(ctx, actions, nil)
		must(t, err)
		equal(t, len(rows(t, table, nil)), 5)
		equal(t, len(decode(t, get(t, table, "merged")).Properties), 2)
		equal(t, len(decode(t, get(t, table, "replaced")).Properties), 1)
	})
}

// failed expects the reason in the parts of the answer: the SDK reports the status of the whole, which was accepted.
func failed(t *testing.T, err error, code aztables.TableErrorCode) {
	t.Helper()
	said := refused(t, err, http.StatusAccepted, "")
	if !strings.Contains(said.Error(), string(code)) {
		t.Errorf("no %s in %v", code, said)
	}
}

func TestFailedTransactionLeavesNothing(t *testing.T) {
	eachDoor(t, func(t *testing.T, d door) {
		table := makeTable(t, d)
		_, err := table.AddEntity(ctx, entity("ann", "there", nil), nil)
		must(t, err)
		_, err = table.SubmitTransaction(ctx, []aztables.TransactionAction{
			{ActionType: aztables.TransactionTypeAdd, Entity: entity("ann", "new", nil)},
			{ActionType: aztables.TransactionTypeAdd, Entity: entity("ann", "there", nil)},
		}, nil)
		failed(t, err, aztables.EntityAlreadyExists)
		equal(t, len(rows(t, table, nil)), 1)
		_, err = table.SubmitTransaction(ctx, []aztables.TransactionAction{
			{ActionType: aztables.TransactionTypeAdd, Entity: entity("ann", "1", nil)},
			{ActionType: aztables.TransactionTypeAdd, Entity: entity("bob", "1", nil)},
		}, nil)
		failed(t, err, "CommandsInBatchActOnDifferentPartitions")
	})
}
