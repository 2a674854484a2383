Feature: maps, lists, paths and trees

  Scenario: a_map_of_counts
    Given the modern graph
    And the traversal of
      """
      g.V().groupCount().by(label)
      """
    When iterated to list
    Then the result should be unordered
      | result |
      | m[{"person":"d[4].l", "software":"d[2].l"}] |

  Scenario: ages_in_order
    Given the modern graph
    And the traversal of
      """
      g.V().values("age").order()
      """
    When iterated to list
    Then the result should be ordered
      | result |
      | d[27].i |
      | d[29].i |
      | d[32].i |
      | d[35].i |

  Scenario: a_list_by_next_is_its_items
    Given the modern graph
    And the traversal of
      """
      g.V().hasLabel("software").values("name").fold()
      """
    When iterated next
    Then the result should be unordered
      | result |
      | lop |
      | ripple |

  Scenario: ways
    Given the modern graph
    And the traversal of
      """
      g.V().has("name", "marko").out("knows").has("age", 32).path()
      """
    When iterated to list
    Then the result should be unordered
      | result |
      | p[v[marko],v[josh]] |

  Scenario: a_tree
    Given the modern graph
    And the traversal of
      """
      g.V().has("name", "marko").out().out().tree().by("name")
      """
    When iterated next
    Then the result should be a tree with a structure of
      """
      |--marko
         |--josh
            |--lop
            |--ripple
      """

  Scenario: locations_with_their_times
    Given the crew graph
    And the traversal of
      """
      g.V().has("name", "stephen").properties("location").has("startTime", 2006)
      """
    When iterated to list
    Then the result should be unordered
      | result |
      | vp[stephen-location->purcellville] |

  Scenario: tokens_as_keys
    Given the modern graph
    And the traversal of
      """
      g.V().has("name", "lop").valueMap(true)
      """
    When iterated to list
    Then the result should be unordered
      | result |
      | m[{"t[id]":"v[lop].id", "t[label]":"software", "name":["lop"], "lang":["java"]}] |
