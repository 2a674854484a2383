package armilla.cosmos;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import armilla.Server;
import com.azure.core.credential.AccessToken;
import com.azure.core.credential.TokenCredential;
import com.azure.cosmos.CosmosAsyncDatabase;
import com.azure.cosmos.CosmosAsyncUser;
import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosClientBuilder;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.models.CosmosClientEncryptionKeyProperties;
import com.azure.cosmos.models.CosmosPermissionProperties;
import com.azure.cosmos.models.CosmosPermissionRequestOptions;
import com.azure.cosmos.models.CosmosUserProperties;
import com.azure.cosmos.models.EncryptionKeyWrapMetadata;
import com.azure.cosmos.models.PermissionMode;
import java.nio.charset.StandardCharsets;
import java.time.OffsetDateTime;
import java.util.Base64;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Users, permissions, resource tokens, tokens of Entra ID, and keys of client encryption. */
class AccessTest extends CosmosTest {
    private CosmosAsyncDatabase reactive() {
        return Clients.asyncClient().getDatabase(database.getId());
    }

    @Test
    void users() {
        assertEquals(201, database.createUser(new CosmosUserProperties().setId("ann")).getStatusCode());
        refused(409, () -> database.createUser(new CosmosUserProperties().setId("ann")));
        assertEquals(200, database.upsertUser(new CosmosUserProperties().setId("ann")).getStatusCode());
        assertEquals("ann", database.getUser("ann").read().getProperties().getId());
        assertEquals(1, database.readAllUsers().stream().count());
        assertEquals(1, database.queryUsers("SELECT * FROM u WHERE u.id = 'ann'").stream().count());
        // What is replaced must have been read: the SDK takes the address from it.
        database.getUser("ann").replace(database.getUser("ann").read().getProperties().setId("bob"));
        assertEquals(204, database.getUser("bob").delete().getStatusCode());
        refused(404, () -> database.getUser("ann").read());
    }

    @Test
    void permissions() {
        CosmosContainer container = makeContainer();
        fill(container, 3);
        database.createUser(new CosmosUserProperties().setId("ann"));
        CosmosAsyncUser ann = reactive().getUser("ann");
        var usual = new CosmosPermissionRequestOptions();
        var properties = new CosmosPermissionProperties()
                .setId("read").setPermissionMode(PermissionMode.READ).setContainerName(container.getId());
        var created = ann.createPermission(properties, usual).block();
        assertEquals(201, created.getStatusCode());
        assertTrue(created.getProperties().getToken().startsWith("type=resource"));
        assertEquals(1, ann.readAllPermissions().collectList().block().size());
        assertEquals(1, ann.queryPermissions("SELECT * FROM p WHERE p.id = 'read'").collectList().block().size());
        assertEquals(200, ann.upsertPermission(properties, usual).block().getStatusCode());
        var read = ann.getPermission("read").read(usual).block().getProperties();
        assertEquals(PermissionMode.READ, read.getPermissionMode());

        try (CosmosClient reader = new CosmosClientBuilder().endpoint(Server.shared().https()).gatewayMode()
                .resourceToken(read.getToken()).buildClient()) {
            CosmosContainer same = reader.getDatabase(database.getId()).getContainer(container.getId());
            assertEquals(0, same.readItem("item 0", key("Oslo"), Item.class).getItem().number());
            refused(403, () -> same.createItem(new Item("no", "Oslo", 1)));
        }
        read.setPermissionMode(PermissionMode.ALL);
        assertEquals(PermissionMode.ALL,
                ann.getPermission("read").replace(read, usual).block().getProperties().getPermissionMode());
        assertEquals(204, ann.getPermission("read").delete(usual).block().getStatusCode());
    }

    /** A token as the emulators take it: the key stands where a signature would be. */
    @Test
    void tokenCredential() {
        CosmosContainer container = makeContainer();
        fill(container, 1);
        TokenCredential credential = request -> {
            long now = OffsetDateTime.now().toEpochSecond();
            String payload = """
                    {"appid":"localhost","oid":"96313034-4739-43cb-93cd-74193adbe5b6","tid":"EmulatorFederation",
                    "ver":"1.0","scp":"user_impersonation","nbf":%d,"exp":%d,"iat":%d,
                    "iss":"https://sts.fake-issuer.net/7b1999a1-dfd7-440e-8204-00170979b984",
                    "aud":"https://localhost.localhost"}""".formatted(now, now + 7200, now);
            String header = """
                    {"typ":"JWT","alg":"RS256","x5t":"CosmosEmulatorPrimaryMaster","kid":"CosmosEmulatorPrimaryMaster"}""";
            String token = Stream.of(header, payload, Server.KEY)
                    .map(part -> Base64.getUrlEncoder().withoutPadding().encodeToString(part.getBytes(StandardCharsets.UTF_8)))
                    .collect(Collectors.joining("."));
            return Mono.just(new AccessToken(token, OffsetDateTime.now().plusHours(2)));
        };
        try (CosmosClient client = new CosmosClientBuilder().endpoint(Server.shared().https()).gatewayMode()
                .credential(credential).buildClient()) {
            CosmosContainer same = client.getDatabase(database.getId()).getContainer(container.getId());
            assertEquals(200, same.readItem("item 0", key("Oslo"), Item.class).getStatusCode());
        }
    }

    @Test
    void wrongKey() {
        String wrong = Base64.getEncoder().encodeToString("not the key at all, but long enough".getBytes(StandardCharsets.UTF_8));
        // The SDK asks for the account when it is built, and wraps what it hears.
        RuntimeException error = assertThrows(RuntimeException.class, () -> Clients.builder().key(wrong).buildClient());
        assertTrue(error.toString().contains("401") || error.toString().contains("Unauthorized"), error.toString());
    }

    @Test
    void clientEncryptionKeys() {
        byte[] wrapped = {1, 2, 3};
        var metadata = new EncryptionKeyWrapMetadata("test", "name", "value", "RSA-OAEP");
        var properties = new CosmosClientEncryptionKeyProperties("key", "AEAD_AES_256_CBC_HMAC_SHA256", wrapped, metadata);
        assertEquals(201, reactive().createClientEncryptionKey(properties).block().getStatusCode());
        var read = reactive().getClientEncryptionKey("key").read().block().getProperties();
        assertArrayEquals(wrapped, read.getWrappedDataEncryptionKey());
        assertEquals("RSA-OAEP", read.getEncryptionKeyWrapMetadata().getAlgorithm());
        assertEquals("key", database.getClientEncryptionKey("key").read().getProperties().getId());
        read.setWrappedDataEncryptionKey(new byte[] {9});
        assertEquals(200, reactive().getClientEncryptionKey("key").replace(read).block().getStatusCode());
        assertEquals(1, database.readAllClientEncryptionKeys().stream().count());
        assertEquals(1, reactive().queryClientEncryptionKeys("SELECT * FROM k").collectList().block().size());
    }
}
