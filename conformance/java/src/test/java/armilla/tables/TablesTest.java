package armilla.tables;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import armilla.Server;
import armilla.WithServer;
import com.azure.core.credential.AzureNamedKeyCredential;
import com.azure.core.credential.AzureSasCredential;
import com.azure.core.exception.HttpResponseException;
import com.azure.core.util.Context;
import com.azure.data.tables.TableClient;
import com.azure.data.tables.TableClientBuilder;
import com.azure.data.tables.TableServiceClient;
import com.azure.data.tables.TableServiceClientBuilder;
import com.azure.data.tables.models.ListEntitiesOptions;
import com.azure.data.tables.models.ListTablesOptions;
import com.azure.data.tables.models.TableAccessPolicy;
import com.azure.data.tables.models.TableEntity;
import com.azure.data.tables.models.TableEntityUpdateMode;
import com.azure.data.tables.models.TableServiceException;
import com.azure.data.tables.models.TableServiceProperties;
import com.azure.data.tables.models.TableSignedIdentifier;
import com.azure.data.tables.models.TableTransactionAction;
import com.azure.data.tables.models.TableTransactionActionType;
import com.azure.data.tables.models.TableTransactionFailedException;
import com.azure.data.tables.sas.TableAccountSasPermission;
import com.azure.data.tables.sas.TableAccountSasResourceType;
import com.azure.data.tables.sas.TableAccountSasService;
import com.azure.data.tables.sas.TableAccountSasSignatureValues;
import com.azure.data.tables.sas.TableSasPermission;
import com.azure.data.tables.sas.TableSasSignatureValues;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.function.Executable;

/** The blocking clients of azure-data-tables, in the flavour of Cosmos DB. */
@ExtendWith(WithServer.class)
class TablesTest {
    private static final AtomicInteger NUMBERS = new AtomicInteger();
    private static final String ACCOUNT = "localhost";

    private final TableServiceClient service = new TableServiceClientBuilder()
            .endpoint(Server.shared().tables())
            .credential(new AzureNamedKeyCredential(ACCOUNT, Server.KEY))
            .buildClient();

    private static String fresh() {
        return "table" + NUMBERS.incrementAndGet();
    }

    private TableClient makeTable() {
        return service.createTable(fresh());
    }

    /** Expects this status and code. */
    private static void refused(int status, String code, Executable operation) {
        TableServiceException error = assertThrows(TableServiceException.class, operation);
        assertEquals(status, error.getResponse().getStatusCode(), error.getMessage());
        assertEquals(code, error.getValue().getErrorCode().toString());
    }

    private static TableEntity entity(String row) {
        return new TableEntity("ann", row).addProperty("n", 1);
    }

    @Test
    void tables() {
        String name = fresh();
        TableClient table = service.createTable(name);
        assertEquals(name, table.getTableName());
        refused(409, "TableAlreadyExists", () -> service.createTable(name));
        service.createTableIfNotExists(name);
        assertTrue(service.listTables().stream().anyMatch(one -> one.getName().equals(name)));
        var options = new ListTablesOptions().setFilter("TableName eq '" + name + "'").setTop(5);
        assertEquals(1, service.listTables(options, null, Context.NONE).stream().count());
        service.deleteTable(name);
        assertFalse(service.listTables().stream().anyMatch(one -> one.getName().equals(name)));

        TableClient other = service.getTableClient(fresh());
        other.createTable();
        other.deleteTable();
    }

    @Test
    void serviceProperties() {
        // Errors about XML are XML, which the SDK does not read: it reports the status alone.
        for (Executable operation : List.<Executable>of(
                service::getProperties, () -> service.setProperties(new TableServiceProperties()))) {
            assertEquals(501, assertThrows(HttpResponseException.class, operation).getResponse().getStatusCode());
        }
    }

    @Test
    void entities() {
        TableClient table = makeTable();
        table.createEntity(entity("1").addProperty("note", "a"));
        refused(409, "EntityAlreadyExists", () -> table.createEntity(entity("1")));
        TableEntity read = table.getEntity("ann", "1");
        assertEquals("a", read.getProperty("note"));
        assertNotNull(read.getETag());
        assertNotNull(read.getTimestamp());
        assertEquals(1, table.getEntityWithResponse("ann", "1", List.of("n"), null, Context.NONE).getValue().getProperty("n"));

        table.updateEntity(entity("1").addProperty("more", true));
        assertEquals("a", table.getEntity("ann", "1").getProperty("note"));
        table.updateEntity(entity("1"), TableEntityUpdateMode.REPLACE);
        assertFalse(table.getEntity("ann", "1").getProperties().containsKey("note"));
        refused(412, "UpdateConditionNotSatisfied",
                () -> table.updateEntityWithResponse(read, TableEntityUpdateMode.MERGE, true, null, Context.NONE));
        refused(404, "ResourceNotFound", () -> table.updateEntity(entity("missing")));

        table.upsertEntity(entity("2"));
        table.upsertEntityWithResponse(entity("2"), TableEntityUpdateMode.REPLACE, null, Context.NONE);
        refused(412, "UpdateConditionNotSatisfied", () -> table.deleteEntityWithResponse(read, true, null, Context.NONE));
        table.deleteEntity(table.getEntity("ann", "2"));
        table.deleteEntity("ann", "1");
        refused(404, "ResourceNotFound", () -> table.getEntity("ann", "1"));
    }

    @Test
    void valuesOfEveryType() {
        TableClient table = makeTable();
        UUID guid = UUID.randomUUID();
        // The SDK writes nine digits of a second, as its own live tests do with the time of now; seven are a whole tick.
        OffsetDateTime time = OffsetDateTime.of(2026, 1, 2, 3, 4, 5, 678_901_200, ZoneOffset.UTC);
        table.createEntity(new TableEntity("ann", "it's")
                .addProperty("boolean", true).addProperty("int32", -7).addProperty("int64", Long.MAX_VALUE)
                .addProperty("double", 1.25).addProperty("string", "Grüße, 世界 🚀 'quoted'")
                .addProperty("guid", guid).addProperty("time", time).addProperty("binary", new byte[] {0, 1, -1}));
        TableEntity read = table.getEntity("ann", "it's");
        assertEquals(true, read.getProperty("boolean"));
        assertEquals(-7, read.getProperty("int32"));
        assertEquals(Long.MAX_VALUE, read.getProperty("int64"));
        assertEquals(1.25, read.getProperty("double"));
        assertEquals("Grüße, 世界 🚀 'quoted'", read.getProperty("string"));
        assertEquals(guid, read.getProperty("guid"));
        assertEquals(time, read.getProperty("time"));
        assertArrayEquals(new byte[] {0, 1, -1}, (byte[]) read.getProperty("binary"));
    }

    @Test
    void queries() {
        TableClient table = makeTable();
        for (int number = 0; number < 25; number++) {
            table.createEntity(new TableEntity("ann", String.format("%02d", number)).addProperty("n", number));
        }
        assertEquals(25, table.listEntities().stream().count());
        var options = new ListEntitiesOptions().setFilter("n ge 20").setSelect(List.of("RowKey", "n")).setTop(2);
        List<Integer> sizes = new ArrayList<>();
        table.listEntities(options, null, Context.NONE).iterableByPage().forEach(page -> sizes.add(page.getValue().size()));
        assertEquals(List.of(2, 2, 1), sizes);
        assertEquals(1, table.listEntities(new ListEntitiesOptions().setFilter("PartitionKey eq 'ann' and RowKey eq '07'"),
                null, Context.NONE).stream().count());
    }

    @Test
    void transactions() {
        TableClient table = makeTable();
        table.createEntity(entity("merged"));
        table.createEntity(entity("deleted"));
        var done = table.submitTransaction(List.of(
                new TableTransactionAction(TableTransactionActionType.CREATE, entity("created")),
                new TableTransactionAction(TableTransactionActionType.UPDATE_MERGE, entity("merged").addProperty("x", 1)),
                new TableTransactionAction(TableTransactionActionType.UPSERT_MERGE, entity("upserted 1")),
                new TableTransactionAction(TableTransactionActionType.UPSERT_REPLACE, entity("upserted 2")),
                new TableTransactionAction(TableTransactionActionType.DELETE, entity("deleted"))));
        assertTrue(done.getTransactionActionResponses().stream().allMatch(part -> part.getStatusCode() == 204
                || part.getStatusCode() == 201));
        assertEquals(4, table.listEntities().stream().count());
        var error = assertThrows(TableTransactionFailedException.class, () -> table.submitTransaction(List.of(
                new TableTransactionAction(TableTransactionActionType.CREATE, entity("new")),
                new TableTransactionAction(TableTransactionActionType.CREATE, entity("merged")))));
        assertEquals(1, error.getFailedTransactionActionIndex());
        assertEquals(4, table.listEntities().stream().count());
    }

    @Test
    void accessPolicies() {
        TableClient table = makeTable();
        OffsetDateTime expiry = OffsetDateTime.now(ZoneOffset.UTC).plusHours(1).truncatedTo(ChronoUnit.SECONDS);
        table.setAccessPolicies(List.of(new TableSignedIdentifier("reader").setAccessPolicy(
                new TableAccessPolicy().setPermissions("r").setExpiresOn(expiry).setStartsOn(expiry.minusHours(2)))));
        var found = table.getAccessPolicies().getIdentifiers();
        assertEquals("reader", found.get(0).getId());
        assertEquals(expiry, found.get(0).getAccessPolicy().getExpiresOn());
    }

    @Test
    void signatures() {
        TableClient table = makeTable();
        table.createEntity(entity("1"));
        OffsetDateTime expiry = OffsetDateTime.now().plusHours(1);
        String ofTable = table.generateSas(new TableSasSignatureValues(expiry, TableSasPermission.parse("r")));
        TableClient reader = new TableClientBuilder().endpoint(Server.shared().tables()).tableName(table.getTableName())
                .credential(new AzureSasCredential(ofTable)).buildClient();
        assertEquals(1, reader.listEntities().stream().count());
        assertEquals(403, assertThrows(TableServiceException.class, () -> reader.createEntity(entity("2")))
                .getResponse().getStatusCode());

        String ofAccount = service.generateAccountSas(new TableAccountSasSignatureValues(
                expiry, TableAccountSasPermission.parse("rl"), TableAccountSasService.parse("t"),
                TableAccountSasResourceType.parse("sco")));
        TableServiceClient lister = new TableServiceClientBuilder().endpoint(Server.shared().tables())
                .credential(new AzureSasCredential(ofAccount)).buildClient();
        assertTrue(lister.listTables().stream().count() > 0);
    }

    @Test
    void connectionString() {
        String text = "DefaultEndpointsProtocol=https;AccountName=%s;AccountKey=%s;TableEndpoint=%s;"
                .formatted(ACCOUNT, Server.KEY, Server.shared().tables());
        assertNotNull(new TableServiceClientBuilder().connectionString(text).buildClient().listTables().stream().toList());
    }
}
