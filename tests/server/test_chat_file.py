"""Nobody reaches a project's chats through gns3-server: not for reading, not for writing, and in no archive."""

from __future__ import annotations

import hashlib
import io
import itertools
import os
import uuid
import zipfile
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from tests.ground.chat import ask, configure_model, history
from tests.ground.projects import Projects
from tests.ground.sse import text_of
from tests.ground.users import ok, unique
from tests.ground.waiting import until
from tests.server.conftest import COMPUTE_LOGIN

SECRET = "what only its author may read"
FOLDER, FILE = "gns3-copilot", "copilot_checkpoints.db"


@pytest.fixture(scope="module")
def shared_server(brisk_server):
    return brisk_server


@pytest.fixture
async def chatted(admin, project):
    """A project with a chat in it and a node; gives the project and the session's id."""
    await configure_model(admin)
    events = await ask(admin, project, SECRET)
    await until(lambda: _at_rest(project))
    return project, events[0]["session_id"]


async def _at_rest(project):
    """Whether the space of the turn has been given back, which comes a moment after its answer."""
    return (project.path / FOLDER / f"{FILE}-wal").stat().st_size == 0


@pytest.fixture
async def compute(gns3_server):
    """The server's compute API with its own login."""
    async with httpx.AsyncClient(base_url=gns3_server.url, auth=COMPUTE_LOGIN, trust_env=False) as client:
        yield client


async def make_node(admin, project):
    body = {"name": "PC1", "node_type": "vpcs", "compute_id": "local"}
    return (await ok(admin.post(f"{project.url}/nodes", json=body)))["node_id"]


def print_of(project):
    """Something that changes when anything in the chats' folder does."""
    folder = project.path / FOLDER
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


async def request(client, method, path):
    """Send the path as it is: httpx would tidy it up."""
    url = client.build_request("GET", "/").url.copy_with(raw_path=path.encode())
    content = {"content": b"overwritten"} if method == "POST" else {}
    if method == "POST" and "/v3/computes/" in path:
        content = {"json": {}}
    return await client.request(method, url, **content)


def encoded(text, times, every=False):
    """Percent-encode so many times over: the slashes and dots, or every letter."""
    for _ in range(times):
        marked = [c if c.isalnum() and not every else f"%{ord(c):02x}" for c in text]
        text = "".join(marked) if not every else "".join(f"%{ord(c):02x}" for c in text)
        every = False
    return text


def ways(target):
    """Give the ways to write a path below a project that might come out as `target`."""
    up = ["", "./", "x/../", "x/y/../../", "/", "project-files/../", "../{project_id}/", f"{FOLDER}/../"]
    plain = [f"{before}{target}" for before in up]
    plain += [target.replace("/", "//"), target.replace("/", "/./"), target.replace("/", "/x/../"), target + "/."]
    plain += [target.replace("g", "%67"), target.replace("g", "%2567"), target.replace("g", "%252567")]
    return [*plain, *(encoded(path, times) for path, times in itertools.product(plain[:8], (1, 2, 3)))]


TARGETS = [f"{FOLDER}/{FILE}", f"{FOLDER}/{FILE}-wal", f"{FOLDER}/new", FOLDER]


async def reaches_nothing(project, clients, paths):
    before = print_of(project)
    tried = 0
    for client, path in itertools.product(clients, paths):
        for method in ("GET", "POST"):
            answer = await request(client, method, path.replace("{project_id}", project.project_id))
            tried += 1
            assert SECRET.encode() not in answer.content, f"{method} {path}"
            assert b"chat_sessions" not in answer.content, f"{method} {path}"
            assert print_of(project) == before, f"{method} {path}: {answer.status_code}"
    return tried


async def test_it_is_its_owner_s_alone(chatted):
    project, _ = chatted
    assert project.chat_database.stat().st_mode & 0o777 == 0o600
    assert project.chat_database.parent.stat().st_mode & 0o777 == 0o700


async def test_no_file_route_reaches_it_however_the_path_is_written(admin, compute, chatted):
    project, session_id = chatted
    node = await make_node(admin, project)
    below = f"{project.url}/nodes/{node}/files/"
    up = "../" * 3
    node_paths = [
        f"{below}{before}{encoded(up + target, times)}"
        for before, target, times in itertools.product(("a", "a/b/..", "a%2f"), TARGETS, (1, 2, 3, 4))
    ]
    node_paths += [f"{below}a%252f..%252f..%252f..%252f..%252f{FOLDER}%252f{FILE}"]
    paths = [f"{project.url}/files/{way}" for target in TARGETS[:2] for way in ways(target)]
    paths += [f"{project.url}/files/{target}" for target in TARGETS]
    tried = await reaches_nothing(project, [admin], [*paths, *node_paths])
    api = f"/v3/compute/projects/{project.project_id}/files"
    paths = [f"{api}/{way}" for target in TARGETS[:2] for way in ways(target)] + [f"{api}/{t}" for t in TARGETS]
    tried += await reaches_nothing(project, [compute], paths)
    forwarded = f"/v3/computes/local/projects/{project.project_id}/files"
    tried += await reaches_nothing(project, [admin], [f"{forwarded}/{way}" for way in ways(TARGETS[0])])
    assert tried > 300
    assert (await history(admin, project, session_id))[0]["content"] == SECRET


async def test_the_routes_work_for_everything_else(admin, compute, chatted):
    project, _ = chatted
    node = await make_node(admin, project)
    inside = f"/v3/compute/projects/{project.project_id}/files/project-files/vpcs/{node}"
    for client, path in (
        (admin, f"{project.url}/files/notes.txt"),
        (admin, f"{project.url}/files/my-gns3-copilot-notes.txt"),
        (admin, f"{project.url}/nodes/{node}/files/startup.vpc"),
        (admin, f"{project.url}/nodes/{node}/files/{FOLDER}/mine.txt"),  # a node's own folder of that name
        (compute, f"{inside}/other.txt"),
    ):
        assert (await client.post(path, content=b"mine")).is_success, path
        assert (await client.get(path)).content == b"mine", path
    listed = await ok(compute.get(f"/v3/compute/projects/{project.project_id}/files"))
    assert "notes.txt" in [one["path"] for one in listed]


async def test_no_list_of_files_has_it(admin, compute, chatted):
    project, _ = chatted
    await make_node(admin, project)  # with which the compute knows the project
    await ok(admin.post(f"{project.url}/files/notes.txt", content=b"mine"))
    for client, path in (
        (compute, f"/v3/compute/projects/{project.project_id}/files"),
        (admin, f"/v3/computes/local/projects/{project.project_id}/files"),
    ):
        answer = await client.get(path)
        assert f"{FOLDER}/" not in answer.text
        assert "notes.txt" in answer.text


LINKS = {
    "folder": lambda project: (project.path / "link", project.path / FOLDER),
    "relative folder": lambda project: (project.path / "link", Path(FOLDER)),
    "project": lambda project: (project.path / "link", project.path),
    "parent": lambda project: (project.path / "link", Path("..")),
    "file": lambda project: (project.path / "link", project.path / FOLDER / FILE),
    "chain": lambda project: (project.path / "link", Path("link2")),
}


@pytest.mark.parametrize("make", LINKS.values(), ids=LINKS)
async def test_no_symlink_leads_to_it(admin, compute, chatted, make):
    project, _ = chatted
    link, target = make(project)
    link.symlink_to(target)
    (project.path / "link2").symlink_to(FOLDER)
    node = await make_node(admin, project)
    folder = project.path / "project-files" / "vpcs" / node
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "link").symlink_to(link)
    below = [f"/{FILE}", f"/{FOLDER}/{FILE}", f"/{project.project_id}/{FOLDER}/{FILE}", "", f"/{FOLDER}/new", "/new"]
    paths = [
        f"{api}/{name}{rest}"
        for api in (f"{project.url}/files", f"{project.url}/nodes/{node}/files")
        for name in ("link", "link2")
        for rest in below
    ]
    inner = f"/v3/compute/projects/{project.project_id}/files"
    computes = [f"{inner}/{name}{rest}" for name in ("link", f"project-files/vpcs/{node}/link") for rest in below]
    await reaches_nothing(project, [admin], paths)
    await reaches_nothing(project, [compute], computes)


async def test_a_project_with_another_one_s_path_does_not_reach_it(admin, make_user, projects, chatted):
    project, session_id = chatted
    intruder = await make_user(role="User")
    await configure_model(intruder)
    moved = await projects.make(intruder)
    for path, below in (
        (project.path, f"{FOLDER}/"),
        (project.path / FOLDER, ""),
        (project.path.parent, f"{project.project_id}/{FOLDER}/"),
    ):
        await intruder.put(moved.url, json={"path": str(path)})
        paths = [f"{moved.url}/files/{below}{name}" for name in (FILE, f"{FILE}-wal", "new")]
        await reaches_nothing(project, [intruder], paths)
        export = await intruder.get(f"{moved.url}/export?compression=none")
        assert SECRET.encode() not in export.content
        # nor do that one's own chats get into the file, or delete what is there
        await intruder.post(f"{moved.chat}/stream", json={"message": "/help"})
        await intruder.get(f"{moved.chat}/sessions")
        await intruder.post(f"{moved.url}/close")
        await intruder.post(f"{moved.url}/open")
        await intruder.get(f"{moved.chat}/sessions")
        assert (await history(admin, project, session_id))[0]["content"] == SECRET
    await intruder.put(moved.url, json={"path": str(moved.path)})
    await ok(admin.post(f"{project.url}/close"))
    await ok(admin.post(f"{project.url}/open"))
    assert (await history(admin, project, session_id))[0]["content"] == SECRET


@pytest.mark.lab("vpcs")
async def test_no_capture_is_written_or_read_there(admin, compute, chatted, lab):
    project, session_id = chatted
    (project.path / "project-files" / "captures").mkdir(parents=True, exist_ok=True)
    (project.path / "project-files" / "captures" / "link").symlink_to(project.path / FOLDER)
    one, other = await lab.vpcs("PC1"), await lab.vpcs("PC2")
    link = await lab.link(one, other)
    await lab.start()
    before = print_of(project)
    names = [f"../../{FOLDER}/{FILE}", str(project.chat_database), f"link/{FILE}", f"../../{FOLDER}/new"]
    url = f"{project.url}/links/{link.link_id}/capture"
    node = f"/v3/compute/projects/{project.project_id}/vpcs/nodes/{one.node_id}/adapters/0/ports/0/capture"
    for name in names:
        for client, start in ((admin, url), (compute, node)):
            body = {"capture_file_name": name, "data_link_type": "DLT_EN10MB"}
            answer = await client.post(f"{start}/start", json=body)
            assert answer.status_code == 403, f"{start} {name}"
            assert print_of(project) == before
    async with lab.capture(link) as capture:  # the others go where they should
        assert capture.path.parent == project.path / "project-files" / "captures"
    await lab.stop()
    assert (await history(admin, project, session_id))[0]["content"] == SECRET


async def export_of(admin, project):
    return io.BytesIO((await admin.get(f"{project.url}/export?compression=none")).content)


def link_in(archive, name, target):
    info = zipfile.ZipInfo(name)
    info.external_attr = 0o120777 << 16
    archive.writestr(info, target)


async def test_no_import_over_a_project_writes_into_it(admin, chatted):
    project, session_id = chatted
    plain = (await export_of(admin, project)).getvalue()

    async def load(fill):
        archive = io.BytesIO(plain)
        with zipfile.ZipFile(archive, "a") as file:
            fill(file)
        return await admin.post(f"/v3/projects/{project.project_id}/import", content=archive.getvalue())

    before = print_of(project)
    # first the links, then the files that would go through them
    links = {"a": FOLDER, "b": ".", "c": f"{FOLDER}/{FILE}", "d": f"{FOLDER}/new"}
    await load(lambda file: [link_in(file, name, target) for name, target in links.items()])
    assert all((project.path / name).is_symlink() for name in links)
    names = [f"a/{FILE}", "a/new", f"b/{FOLDER}/{FILE}", f"{FOLDER}/{FILE}", f"x/../{FOLDER}/new", f"b/a/{FILE}"]
    outside = f"../{project.project_id}"
    for name in (*names, "c", "d", f"{outside}/{FOLDER}/{FILE}", f"{outside}/a/{FILE}", FOLDER):
        await load(lambda file, name=name: file.writestr(name, "planted"))
        assert print_of(project) == before, name
        await load(lambda file, name=name: link_in(file, name, "/etc/passwd"))
        assert print_of(project) == before, name
        assert not os.path.islink(project.path / FOLDER)
    assert (await history(admin, project, session_id))[0]["content"] == SECRET


async def test_nothing_can_be_put_there_before_the_first_chat(admin, compute, project):
    await make_node(admin, project)
    api = f"/v3/compute/projects/{project.project_id}/files"
    for client, path in (
        (admin, f"{project.url}/files/{FOLDER}/{FILE}"),
        (admin, f"{project.url}/files/{FOLDER}"),
        (compute, f"{api}/{FOLDER}/{FILE}"),
        (compute, f"{api}/{FOLDER}"),
        (compute, f"{api}/x%2f..%2f{FOLDER}/{FILE}"),
    ):
        assert (await request(client, "POST", path)).status_code == 403, path
        assert not os.path.lexists(project.path / FOLDER)


async def test_no_archive_and_no_copy_has_anything_of_it(admin, make_user, chatted):
    project, session_id = chatted
    other = await make_user(role="User")
    await configure_model(other)
    await ask(other, project, f"{SECRET}, too")
    await ok(admin.post(f"{project.url}/files/notes.txt", content=b"these go along"))
    auditor = await make_user(role="Auditor")
    await ok(admin.post(f"{project.url}/snapshots", json={"name": "before"}))
    archives = [path.read_bytes() for path in (project.path / "snapshots").iterdir()]
    for query in ("compression=none", "compression=none&include_snapshots=true", "compression=zip"):
        archives.append((await auditor.get(f"{project.url}/export?{query}")).content)
    for content in archives:
        archive = zipfile.ZipFile(io.BytesIO(content))
        assert "notes.txt" in archive.namelist()
        assert not [name for name in archive.namelist() if "copilot" in name]
        assert not [name for name in archive.namelist() if SECRET.encode() in archive.read(name)]
        assert SECRET.encode() not in content
    copy = await ok(admin.post(f"{project.url}/duplicate", json={"name": unique("copy")}))
    await ok(admin.post(f"/v3/projects/{copy['project_id']}/open"))
    folder = project.path.parent / copy["project_id"]
    assert (folder / "notes.txt").exists()
    assert not [path for path in folder.rglob("*") if "copilot" in path.name]
    assert (await ok(admin.get(f"/v3/projects/{copy['project_id']}/chat/sessions"))) == []
    await ok(admin.delete(f"/v3/projects/{copy['project_id']}"))
    assert (await history(admin, project, session_id))[0]["content"] == SECRET
    assert len(await ok(admin.get(f"{project.chat}/sessions"))) == 1


async def test_a_home_called_like_its_folder_loses_nothing(admin, gns3_server, model_server):
    # the folder's own path, not its name, is what is left out
    projects = Projects(admin)
    project = replace(await projects.make(), path=gns3_server.projects_path / FOLDER / "lab")
    await ok(admin.put(project.url, json={"path": str(project.path)}))
    await configure_model(admin)
    await ask(admin, project, SECRET)
    await ok(admin.post(f"{project.url}/files/notes.txt", content=b"these go along"))
    assert (await admin.get(f"{project.url}/files/notes.txt")).content == b"these go along"
    names = zipfile.ZipFile(await export_of(admin, project)).namelist()
    assert "notes.txt" in names
    assert not [name for name in names if "copilot" in name]
    await reaches_nothing(project, [admin], [f"{project.url}/files/{FOLDER}/{FILE}"])
    await projects.delete_all()


async def test_the_copy_of_a_project_takes_no_link_to_it_along(admin, chatted):
    project, _ = chatted
    (project.path / "link").symlink_to(project.path / FOLDER / FILE)
    copy = await ok(admin.post(f"{project.url}/duplicate", json={"name": unique("copy")}))
    copied = replace(project, project_id=copy["project_id"], path=project.path.parent / copy["project_id"])
    answer = await admin.get(f"{copied.url}/files/link")
    assert answer.status_code in (403, 404)
    await ok(admin.delete(copied.url))
    archive = zipfile.ZipFile(await export_of(admin, project))
    assert not [name for name in archive.namelist() if SECRET.encode() in archive.read(name)]


async def test_a_chat_goes_on_after_all_this(admin, chatted):
    project, session_id = chatted
    (project.path / f"note-{uuid.uuid4()}").write_text("x")
    assert text_of(await ask(admin, project, "/help", session_id=session_id))
