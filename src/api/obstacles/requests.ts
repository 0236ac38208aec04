/** Obstacles that users and specifications are. Pure data; see catalogue.ts. */
import type { ReasonRows } from './rows.ts';

export const REQUEST_OBSTACLES = {
  Paused: [
    'spec.paused is true, or a person paused the workflow.',
    'Set it to false, or request that it resumes.',
  ],
  Aborted: ['A person aborted the operation.', 'Change the specification, or request a resync.'],
  AwaitingApproval: [
    'The next step requires the approval of a person.',
    'Read the message; approve or abort.',
  ],
  Hibernated: ['The cluster is to be hibernated, so nothing is created.', 'Set spec.hibernated to false.'],
  SpecInvalid: [
    'The specification is invalid; nothing is created or changed for it.',
    'Read the conditions SpecValid, VersionSupported, TLSSupported and ScheduleValid.',
  ],
  StepFailed: ['A step failed; it is retried automatically.', 'Remove the cause that the message names.'],
  ChangedConcurrently: [
    'Others changed the resource each time the operator wrote its status; nothing is decided until the status is written.',
    'Nothing if it passes; otherwise find out who writes the resource all the time.',
  ],
  NameTaken: [
    'An object with a name that the operator needs belongs to something else.',
    'Remove or rename the object that the message names.',
  ],
  SerialsExhausted: [
    'A pod or claim has a number so high that none is left for new members.',
    'Remove it, or give the cluster another name.',
  ],
} as const satisfies ReasonRows;
