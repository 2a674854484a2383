package tables

import (
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func TestSignatureOfATable(t *testing.T) {
	eachDoor(t, func(t *testing.T, d door) {
		table := makeTable(t, d)
		_, err := table.AddEntity(ctx, entity("ann", "1", nil), nil)
		must(t, err)
		address, err := table.GetTableSASURL(aztables.SASPermissions{Read: true}, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
		must(t, err)
		reader, err := aztables.NewClientWithNoCredential(address, options(t, d))
		must(t, err)
		equal(t, len(rows(t, reader, nil)), 1)
		_, err = reader.AddEntity(ctx, entity("ann", "2", nil), nil)
		// Cosmos DB says less here than a storage account, which tells the permission that is missing.
		refused(t, err, http.StatusForbidden, "Forbidden")
	})
}

func TestSignatureOfTheAccount(t *testing.T) {
	eachDoor(t, func(t *testing.T, d door) {
		table := makeTable(t, d)
		_, err := table.AddEntity(ctx, entity("ann", "1", nil), nil)
		must(t, err)
		address, err := service(t, d).GetAccountSASURL(
			aztables.AccountSASResourceTypes{Service: true, Container: true, Object: true},
			aztables.AccountSASPermissions{Read: true, List: true}, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
		must(t, err)
		reader, err := aztables.NewServiceClientWithNoCredential(address, options(t, d))
		must(t, err)
		if pages := drain(t, reader.NewListTablesPager(nil)); len(pages[0].Tables) == 0 {
			t.Error("the table is listed")
		}
		_, err = reader.CreateTable(ctx, freshName(), nil)
		refused(t, err, http.StatusForbidden, "")
	})
}

func TestAccessPolicies(t *testing.T) {
	eachDoor(t, func(t *testing.T, d door) {
		table := makeTable(t, d)
		start, expiry := time.Now().UTC().Truncate(time.Second), time.Now().UTC().Add(time.Hour).Truncate(time.Second)
		_, err := table.SetAccessPolicy(ctx, &aztables.SetAccessPolicyOptions{TableACL: []*aztables.SignedIdentifier{{
			ID:           ptr("reader"),
			AccessPolicy: &aztables.AccessPolicy{Permission: ptr("r"), Start: &start, Expiry: &expiry},
		}}})
		must(t, err)
		read, err := table.GetAccessPolicy(ctx, nil)
		must(t, err)
		equal(t, len(read.SignedIdentifiers), 1)
		equal(t, *read.SignedIdentifiers[0].ID, "reader")
		equal(t, *read.SignedIdentifiers[0].AccessPolicy.Permission, "r")
		equal(t, read.SignedIdentifiers[0].AccessPolicy.Expiry.Equal(expiry), true)

		var tooMany []*aztables.SignedIdentifier
		for _, id := range "abcdef" {
			tooMany = append(tooMany, &aztables.SignedIdentifier{ID: ptr(string(id)), AccessPolicy: &aztables.AccessPolicy{Permission: ptr("r")}})
		}
		_, err = table.SetAccessPolicy(ctx, &aztables.SetAccessPolicyOptions{TableACL: tooMany})
		if err == nil {
			t.Error("five policies are the most")
		}
	})
}

func TestSharedKeyOfOneTable(t *testing.T) {
	eachDoor(t, func(t *testing.T, d door) {
		name := freshName()
		table, err := aztables.NewClientWithSharedKey(d.url+name, credential(t, d), options(t, d))
		must(t, err)
		_, err = table.CreateTable(ctx, nil)
		must(t, err)
		_, err = table.AddEntity(ctx, entity("ann", "1", nil), nil)
		must(t, err)
		read, err := table.GetEntity(ctx, "ann", "1", nil)
		must(t, err)
		_, err = table.DeleteEntity(ctx, "ann", "1", &aztables.DeleteEntityOptions{IfMatch: ptr(azcore.ETag(read.ETag))})
		must(t, err)
		_, err = table.Delete(ctx, nil)
		must(t, err)
	})
}
