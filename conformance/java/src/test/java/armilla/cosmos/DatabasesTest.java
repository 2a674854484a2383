package armilla.cosmos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.CosmosDatabase;
import com.azure.cosmos.models.CosmosDatabaseProperties;
import com.azure.cosmos.models.CosmosDatabaseRequestOptions;
import com.azure.cosmos.models.CosmosDatabaseResponse;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.azure.cosmos.models.SqlParameter;
import com.azure.cosmos.models.SqlQuerySpec;
import com.azure.cosmos.models.ThroughputProperties;
import org.junit.jupiter.api.Test;

class DatabasesTest extends CosmosTest {
    @Test
    void verbs() {
        CosmosDatabaseResponse read = database.read();
        assertEquals(200, read.getStatusCode());
        assertEquals(database.getId(), read.getProperties().getId());
        assertNotNull(read.getProperties().getETag());
        assertNotNull(read.getProperties().getTimestamp());
        assertTrue(read.getRequestCharge() > 0);
        assertNotNull(read.getActivityId());

        String etag = read.getProperties().getETag();
        assertEquals(304, statusOf(() -> database.read(new CosmosDatabaseRequestOptions().setIfNoneMatchETag(etag))));
        refused(412, () -> database.delete(new CosmosDatabaseRequestOptions().setIfMatchETag("\"stale\"")));
        assertEquals(204, database.delete(new CosmosDatabaseRequestOptions().setIfMatchETag(etag)).getStatusCode());
        refused(404, () -> database.read());
    }

    /** A condition that fails is an answer in some clients and an error in others. */
    private static int statusOf(java.util.function.Supplier<CosmosDatabaseResponse> operation) {
        try {
            return operation.get().getStatusCode();
        } catch (com.azure.cosmos.CosmosException error) {
            return error.getStatusCode();
        }
    }

    @Test
    void ifNotExists() {
        assertEquals(200, Clients.client().createDatabaseIfNotExists(database.getId()).getStatusCode());
        String id = fresh("database");
        assertEquals(201, Clients.client().createDatabaseIfNotExists(id).getStatusCode());
        refused(409, () -> Clients.client().createDatabase(id));
        Clients.client().getDatabase(id).delete();
    }

    @Test
    void lists() {
        assertTrue(Clients.client().readAllDatabases().stream().anyMatch(one -> one.getId().equals(database.getId())));
        var query = new SqlQuerySpec("SELECT * FROM r WHERE r.id = @id", new SqlParameter("@id", database.getId()));
        var found = Clients.client().queryDatabases(query, new CosmosQueryRequestOptions()).stream().toList();
        assertEquals(1, found.size());
    }

    @Test
    void sharedThroughput() {
        String id = fresh("database");
        Clients.client()
                .createDatabase(new CosmosDatabaseProperties(id), ThroughputProperties.createManualThroughput(500));
        CosmosDatabase shared = Clients.client().getDatabase(id);
        try {
            assertEquals(500, shared.readThroughput().getProperties().getManualThroughput());
            shared.replaceThroughput(ThroughputProperties.createManualThroughput(600));
            assertEquals(600, shared.readThroughput().getProperties().getManualThroughput());
            // The SDK finds no offer in the list that it asked for, and says so itself.
            refused(400, () -> database.readThroughput());
        } finally {
            shared.delete();
        }
    }
}
