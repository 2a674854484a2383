import { Dialog } from '../ui/Dialog';

const GROUPS: [string, [string[], string][]][] = [
  [
    'Everywhere',
    [
      [['?'], 'this help'],
      [['/'], 'filter the tree by name'],
      [['g', 'h'], 'home'],
      [['g', 't'], 'the tree'],
      [['Esc'], 'close what is open'],
    ],
  ],
  [
    'In a container',
    [
      [['g', 'i'], 'items'],
      [['g', 'q'], 'query'],
      [['g', 's'], 'settings'],
      [['g', 'p'], 'partitions'],
    ],
  ],
  [
    'Tree',
    [
      [['↑', '↓'], 'from line to line'],
      [['→', '←'], 'unfold and fold, or to what lies below and above'],
      [['Enter'], 'open'],
      [['a', '…', 'z'], 'to the next name that begins so'],
    ],
  ],
  [
    'Tables and editors',
    [
      [['↑', '↓'], 'from row to row'],
      [['Ctrl', 'S'], 'save the item'],
      [['Ctrl', 'Enter'], 'run the query'],
      [['←', '→'], 'on the line between two panes: move it'],
    ],
  ],
];

export function Shortcuts({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} wide>
      <div class="shortcuts">
        {GROUPS.map(([title, keys]) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(([names, what]) => (
                <div key={what}>
                  <dt>
                    {names.map((name) => (
                      <kbd key={name}>{name}</kbd>
                    ))}
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
