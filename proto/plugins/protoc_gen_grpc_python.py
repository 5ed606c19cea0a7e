"""The protoc plugin that writes the gRPC stubs: a voice for grpc_tools, which has none of its own.

grpcio-tools links its Python generator into its protoc and ships no plugin
program, and buf speaks to plugins alone. So this one takes buf's
CodeGeneratorRequest, has that protoc generate into a scratch folder, and hands
back the files it finds there (the plugin contract: descriptor set in on
standard input, CodeGeneratorResponse out on standard output).
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from google.protobuf.compiler import plugin_pb2
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc


def answer(request: plugin_pb2.CodeGeneratorRequest) -> plugin_pb2.CodeGeneratorResponse:
    """Return the stubs for the files the request names, or the error protoc ended with."""
    response = plugin_pb2.CodeGeneratorResponse(
        supported_features=plugin_pb2.CodeGeneratorResponse.FEATURE_PROTO3_OPTIONAL
    )
    with TemporaryDirectory() as scratch:
        descriptors, stubs = Path(scratch, "in.binpb"), Path(scratch, "stubs")
        descriptors.write_bytes(FileDescriptorSet(file=request.proto_file).SerializeToString())
        stubs.mkdir()
        options = f"{request.parameter}:" if request.parameter else ""
        arguments = [f"--descriptor_set_in={descriptors}", f"--grpc_python_out={options}{stubs}"]
        if status := protoc.main(["protoc", *arguments, *request.file_to_generate]):
            response.error = f"grpc_tools' protoc ended with status {status}"
        for stub in sorted(stubs.rglob("*.py")):
            name = stub.relative_to(stubs).as_posix()
            response.file.add(name=name, content=stub.read_text(encoding="utf-8"))
    return response


if __name__ == "__main__":
    question = plugin_pb2.CodeGeneratorRequest.FromString(sys.stdin.buffer.read())
    sys.stdout.buffer.write(answer(question).SerializeToString())
