package armilla;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * One server process on free ports, with its data folder and its log.
 *
 * <p>The binary comes from ARMILLA_BIN, or is the debug build of this repository. Standard error goes to a file, so a
 * line the server wrote before it answered is there when the answer is.
 */
public final class Server implements AutoCloseable {
    /** The well-known key of the emulators. */
    public static final String KEY =
            "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

    private static final int READY_SECONDS_MAX = 30;
    private static final int STOP_SECONDS_MAX = 30;
    private static final Pattern PAIR = Pattern.compile("(\\w+)=(\\S+)");
    private static final Pattern COMPLAINT =
            Pattern.compile("(?i)^(?:\\S+\\s+)?(?:WARN|ERROR)\\b.*|^thread .* panicked at.*");

    private final Path folder;
    private final Process process;
    private final Map<String, String> ready = new HashMap<>();

    private static Server shared;

    /** The server that all tests of this run share; the first to ask starts it, the end of the run stops it. */
    public static synchronized Server shared() {
        if (shared == null) {
            try {
                shared = new Server("--throttle", "off");
                shared.trust();
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        }
        return shared;
    }

    /** Starts the process and waits for its ready line. */
    public Server(String... flags) throws Exception {
        folder = Files.createTempDirectory("armilla-java-");
        List<String> command = new ArrayList<>(
                List.of(binary(), "--port", "0", "--data-dir", dataFolder().toString()));
        command.addAll(List.of(flags));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("NO_COLOR", "1");
        builder.redirectError(folder.resolve("stderr.log").toFile());
        process = builder.start();
        // A run that is cut off leaves no server behind.
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        CompletableFuture<String> line = new CompletableFuture<>();
        Thread reader = new Thread(() -> {
            try (var lines = process.inputReader(StandardCharsets.UTF_8)) {
                for (String text = lines.readLine(); text != null; text = lines.readLine()) {
                    if (text.startsWith("armilla ready:")) {
                        line.complete(text);
                    }
                }
                line.completeExceptionally(new IOException("no ready line: " + log()));
            } catch (IOException error) {
                line.completeExceptionally(error);
            }
        });
        reader.setDaemon(true);
        reader.start();
        var pairs = PAIR.matcher(line.get(READY_SECONDS_MAX, TimeUnit.SECONDS));
        while (pairs.find()) {
            ready.put(pairs.group(1), pairs.group(2));
        }
    }

    private static String binary() {
        String named = System.getenv("ARMILLA_BIN");
        return named == null || named.isEmpty() ? "../../target/debug/armilla" : named;
    }

    /** The endpoint an application is given. */
    public String https() {
        return ready.get("sql");
    }

    /** The same port without TLS. */
    public String http() {
        return https().replaceFirst("^https:", "http:");
    }

    /** Where the data are, and the certificate that the server made for itself. */
    public Path dataFolder() {
        return folder.resolve("data");
    }

    /** The Table endpoint in the flavour of Cosmos DB. */
    public String tables() {
        return ready.get("table");
    }

    /** The port of the Gremlin API. */
    public int gremlinPort() {
        return URI.create(ready.get("gremlin")).getPort();
    }

    /** Makes every client of this process trust the certificate that the server made for itself. */
    private void trust() throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        try (InputStream text = Files.newInputStream(dataFolder().resolve("tls/cert.pem"))) {
            store.setCertificateEntry("armilla", CertificateFactory.getInstance("X.509").generateCertificate(text));
        }
        Path file = folder.resolve("trusted.p12");
        try (OutputStream output = Files.newOutputStream(file)) {
            store.store(output, "armilla".toCharArray());
        }
        System.setProperty("javax.net.ssl.trustStore", file.toString());
        System.setProperty("javax.net.ssl.trustStorePassword", "armilla");
        System.setProperty("javax.net.ssl.trustStoreType", "PKCS12");
    }

    private String log() throws IOException {
        return Files.readString(folder.resolve("stderr.log"));
    }

    /** Ends the process; it must end well, and have complained about nothing. */
    @Override
    public void close() throws Exception {
        process.destroy();
        if (!process.waitFor(STOP_SECONDS_MAX, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new IllegalStateException("still running " + STOP_SECONDS_MAX + " s after SIGTERM");
        }
        List<String> complaints = log().lines().filter(line -> COMPLAINT.matcher(line).matches()).toList();
        try (var files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        }
        if (process.exitValue() != 0 || !complaints.isEmpty()) {
            throw new IllegalStateException("exit code " + process.exitValue() + ", complaints " + complaints);
        }
    }

    static synchronized void closeShared() throws Exception {
        if (shared != null) {
            shared.close();
            shared = null;
        }
    }
}
