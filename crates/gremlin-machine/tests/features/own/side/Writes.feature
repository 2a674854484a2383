Feature: what changes a graph, and what is refused

  Scenario: a_vertex_more
    Given the empty graph
    And the graph initializer of
      """
      g.addV("person").property("name", "ada")
      """
    And the traversal of
      """
      g.addV("person").property("name", "grace").addE("knows").to(__.V().has("name", "ada"))
      """
    When iterated to list
    Then the result should have a count of 1
    And the graph should return 2 for count of "g.V()"
    And the graph should return 1 for count of "g.V().has(\"name\",\"grace\").out(\"knows\")"

  Scenario: a_side_effect_from_outside
    Given the modern graph
    And using the side effect a defined as "l[d[1].i]"
    And the traversal of
      """
      g.V().limit(1).cap("a")
      """
    When iterated to list
    Then the result should be unordered
      | result |
      | l[d[1].i] |

  Scenario: a_property_of_nothing
    Given the modern graph
    And the traversal of
      """
      g.inject(1).property("a", "b")
      """
    When iterated to list
    Then the traversal will raise an error

  Scenario: a_failure_with_words
    Given the modern graph
    And the traversal of
      """
      g.V().fail("no more")
      """
    When iterated to list
    Then the traversal will raise an error with message containing text of "no more"

  Scenario: nothing_to_run
    Given an unsupported test
    Then nothing should happen because
      """
      It says so.
      """
