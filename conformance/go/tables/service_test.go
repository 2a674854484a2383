package tables

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"armilla/conformance/server"
)

func TestTables(t *testing.T) {
	eachDoor(t, func(t *testing.T, d door) {
		client := service(t, d)
		name := freshName()
		created, err := client.CreateTable(ctx, name, nil)
		must(t, err)
		equal(t, *created.TableName, name)
		_, err = client.CreateTable(ctx, name, nil)
		refused(t, err, http.StatusConflict, aztables.TableAlreadyExists)

		table := client.NewClient(name)
		_, err = table.CreateTable(ctx, nil)
		refused(t, err, http.StatusConflict, aztables.TableAlreadyExists)
		_, err = table.Delete(ctx, nil)
		must(t, err)
		_, err = client.DeleteTable(ctx, name, nil)
		refused(t, err, http.StatusNotFound, aztables.ResourceNotFound)
	})
}

func TestListOfTables(t *testing.T) {
	eachDoor(t, func(t *testing.T, d door) {
		client := service(t, d)
		var made []string
		for range 3 {
			made = append(made, freshName())
			_, err := client.CreateTable(ctx, made[len(made)-1], nil)
			must(t, err)
		}
		defer func() {
			for _, name := range made {
				_, err := client.DeleteTable(ctx, name, nil)
				must(t, err)
			}
		}()
		found := map[string]bool{}
		pages := drain(t, client.NewListTablesPager(&aztables.ListTablesOptions{Top: ptr(int32(2))}))
		for _, page := range pages {
			if len(page.Tables) > 2 {
				t.Error("a page has two tables at most")
			}
			for _, one := range page.Tables {
				found[*one.Name] = true
			}
		}
		for _, name := range made {
			equal(t, found[name], true, name)
		}
		chosen := drain(t, client.NewListTablesPager(&aztables.ListTablesOptions{
			Filter: ptr(fmt.Sprintf("TableName eq '%s'", made[1])), Select: ptr("TableName"), Format: ptr(aztables.MetadataFormatFull),
		}))
		equal(t, len(chosen[0].Tables), 1)
		equal(t, *chosen[0].Tables[0].Name, made[1])
		if !strings.Contains(string(chosen[0].Tables[0].Value), "odata.") {
			t.Errorf("full metadata were asked for: %s", chosen[0].Tables[0].Value)
		}
	})
}

// Cosmos DB has neither service properties nor statistics.
func TestPropertiesAreOfStorageAccounts(t *testing.T) {
	eachDoor(t, func(t *testing.T, d door) {
		client := service(t, d)
		_, err := client.GetProperties(ctx, nil)
		refused(t, err, http.StatusNotImplemented, "")
		_, err = client.SetProperties(ctx, aztables.ServiceProperties{}, nil)
		refused(t, err, http.StatusNotImplemented, "")
		_, err = client.GetStatistics(ctx, nil)
		refused(t, err, http.StatusNotImplemented, "")
	})
}

func TestConnectionString(t *testing.T) {
	direct := doors(t)[0]
	text := fmt.Sprintf("DefaultEndpointsProtocol=https;AccountName=%s;AccountKey=%s;TableEndpoint=%s", direct.account, server.Key,
		strings.TrimSuffix(direct.url, "/"))
	client, err := aztables.NewServiceClientFromConnectionString(text, options(t, direct))
	must(t, err)
	drain(t, client.NewListTablesPager(nil))
}

func TestWrongKeyIsRefused(t *testing.T) {
	direct := doors(t)[0]
	wrong := credential(t, direct)
	equal(t, wrong.AccountName(), direct.account)
	must(t, wrong.SetAccountKey("bm90IHRoZSBrZXk="))
	client, err := aztables.NewClientWithSharedKey(direct.url+freshName(), wrong, options(t, direct))
	must(t, err)
	_, err = client.CreateTable(ctx, nil)
	refused(t, err, http.StatusUnauthorized, "")
}
