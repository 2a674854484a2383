package armilla.readme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import armilla.Server;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The README's Java snippets, run as they are printed, by the commands that are printed with them.
 *
 * <p>Only the port is another, and the scheme where the README says so. Each program is a process of its own: what a
 * process trusts is decided once.
 */
class ReadmeTest {
    private static final Path README = Path.of("../../README.md");
    private static final int SECONDS_MAX = 300;
    /** Where the README says that the server listens. */
    private static final String PRINTED = "https://localhost:8081/";

    /** The folder that a reader stands in, with the server's data in it. */
    @TempDir
    Path folder;

    private Server server;

    private record Ended(int code, String printed, String complaints) {}

    @BeforeEach
    void start() throws Exception {
        server = new Server();
        Files.createSymbolicLink(folder.resolve("armilla-data"), server.dataFolder());
    }

    @AfterEach
    void stop() throws Exception {
        server.close();
    }

    @Test
    void everySnippetIsExpected() throws IOException {
        assertEquals(2, fenced("java").size());
        assertEquals(4, fenced("sh").stream().filter(command -> command.contains("java")).count());
    }

    @Test
    void aKeyStoreIsTrusted() throws Exception {
        write("Connect.java", server.https());
        connects(command("keytool "));
    }

    @Test
    void theEmulatorsPropertyIsEnough() throws Exception {
        write("Connect.java", server.https());
        String command = command("java -DCOSMOS.EMULATOR_SERVER_CERTIFICATE_VALIDATION_DISABLED");
        connects(command);
        // Again, since a reader who likes it does it again.
        connects(command);
    }

    @Test
    void plainHttpIsEnough() throws Exception {
        write("Connect.java", server.http());
        connects(command("java -DCOSMOS.HTTP_CONNECTION_WITHOUT_TLS_ALLOWED"));
    }

    @Test
    void oneOfTheWaysIsNeeded() throws Exception {
        write("Connect.java", server.https());
        Ended ended = run("java Connect.java");
        assertNotEquals(0, ended.code, ended.printed);
        assertTrue(ended.complaints.contains("certification path"), ended.complaints);
    }

    @Test
    void springData() throws Exception {
        write("plant/Plant.java", server.https());
        Ended ended = run(command("javac plant/Plant.java"));
        assertEquals(0, ended.code, ended.complaints);
        assertEquals("[Reading[id=reading-1, deviceId=pump-7, celsius=41.5]]", ended.printed.strip());
    }

    /** Expects the item to be printed as the server has it. */
    private void connects(String commands) throws Exception {
        Ended ended = run(commands);
        assertEquals(0, ended.code, ended.complaints);
        for (String member : List.of("id=reading-1", "deviceId=pump-7", "celsius=41.5", "_etag=", "_ts=")) {
            assertTrue(ended.printed.contains(member), ended.printed);
        }
    }

    /** The README's blocks of one language. */
    private static List<String> fenced(String language) throws IOException {
        Pattern fence = Pattern.compile("^```" + language + "\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL);
        return fence.matcher(Files.readString(README))
                .results()
                .map((MatchResult found) -> found.group(1))
                .toList();
    }

    /** The one block of commands that begins so. */
    private static String command(String beginning) throws IOException {
        List<String> found = fenced("sh").stream()
                .filter(block -> block.startsWith(beginning))
                .toList();
        assertEquals(1, found.size(), beginning);
        return found.get(0);
    }

    /** Writes the snippet of this file's class, with the address where the server listens. */
    private void write(String file, String address) throws IOException {
        Path path = folder.resolve(file);
        String name = path.getFileName().toString().replace(".java", "");
        List<String> found = fenced("java").stream()
                .filter(block -> block.contains("public class " + name + " "))
                .toList();
        assertEquals(1, found.size(), file);
        String moved = found.get(0).replace(PRINTED, address);
        assertNotEquals(found.get(0), moved, "the snippet does not connect where the README says");
        Files.createDirectories(path.getParent());
        Files.writeString(path, moved);
    }

    /** Runs commands as a reader does, with the SDK on the class path and the key in the environment. */
    private Ended run(String commands) throws Exception {
        ProcessBuilder builder = new ProcessBuilder("sh", "-ec", commands).directory(folder.toFile());
        var environment = builder.environment();
        environment.put("CLASSPATH", System.getProperty("java.class.path"));
        environment.put("COSMOS_KEY", Server.KEY);
        // Programs this short are done before better code would pay.
        environment.put("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1");
        String tools = Path.of(System.getProperty("java.home"), "bin").toString();
        environment.merge("PATH", tools, (path, first) -> first + File.pathSeparator + path);
        Path printed = folder.resolve("stdout.txt");
        Path complaints = folder.resolve("stderr.txt");
        builder.redirectOutput(printed.toFile()).redirectError(complaints.toFile());
        Process process = builder.start();
        if (!process.waitFor(SECONDS_MAX, TimeUnit.SECONDS)) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
            throw new AssertionError("not done in " + SECONDS_MAX + " s: " + Files.readString(complaints));
        }
        return new Ended(process.exitValue(), Files.readString(printed), Files.readString(complaints));
    }
}
